// Talks to a host by the libraries that OpenAI and Vercel publish, unmodified, and
// prints what they made of its answers. Arguments: the folder with node_modules, the
// address of the host.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [dir, url] = process.argv.slice(2);
const require = createRequire(dir + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { default: OpenAI } = await load('openai');
const { generateText, streamText, tool, jsonSchema } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');

const say = (name, value) => console.log(JSON.stringify([name, value]));
const client = new OpenAI({ baseURL: url + '/v1', apiKey: 'none' });
const messages = [{ role: 'user', content: 'Hi' }];

const models = [];
for await (const m of client.models.list()) models.push(m.id);
say('models', models);
say('model', (await client.models.retrieve('team/echo')).id);

const whole = await client.chat.completions.create({ model: 'echo', messages });
say('whole', [whole.choices[0].message.content, whole.choices[0].finish_reason, whole.usage.total_tokens]);

let text = '', usage;
for await (const chunk of await client.chat.completions.create({ model: 'echo', messages, stream: true, stream_options: { include_usage: true } })) {
  text += chunk.choices[0]?.delta.content ?? '';
  usage = chunk.usage ?? usage;
}
say('stream', [text, usage.total_tokens]);

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const runner = client.chat.completions.runTools({
  model: 'echo', stream: true, messages: [{ role: 'user', content: 'What is the weather?' }],
  tools: [{ type: 'function', function: { name: 'weather', parameters, parse: JSON.parse, function: ({ city }) => city + ' has 12 degrees' } }],
}, { headers: { 'X-Roster-Tools': 'pass' } });
say('tools', await runner.finalContent());

for (const [name, body] of [['unknown', { model: 'nobody', messages }], ['bad', { model: 'echo', messages, n: 2 }]]) {
  try {
    await client.chat.completions.create(body);
  } catch (e) {
    say(name, [e.constructor.name, e.status, e.code, e.param]);
  }
}

const provider = createOpenAICompatible({ name: 'roster', baseURL: url + '/v1', includeUsage: true });
const ai = streamText({ model: provider('echo'), prompt: 'Hi' });
text = '';
for await (const piece of ai.textStream) text += piece;
say('ai', [text, await ai.finishReason, (await ai.usage).totalTokens]);

const passing = createOpenAICompatible({ name: 'roster', baseURL: url + '/v1', headers: { 'X-Roster-Tools': 'pass' } });
const { steps } = await generateText({
  model: passing('echo'), prompt: 'What is the weather?',
  tools: { weather: tool({ inputSchema: jsonSchema(parameters), execute: async ({ city }) => city + ' has 12 degrees' }) },
  stopWhen: ({ steps }) => steps.length >= 3,
});
say('ai tools', steps.at(-1).text);
