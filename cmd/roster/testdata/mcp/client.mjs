// The official client asks a profile, over the way that the first argument names:
// the address of a server, or "stdio" and the command that starts one. It writes
// what it saw as JSON.
import { pathToFileURL } from 'node:url';

const sdk = (file) => import(pathToFileURL(`${process.env.SDK}/dist/esm/${file}`).href);
const { Client } = await sdk('client/index.js');
const { StdioClientTransport } = await sdk('client/stdio.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { ElicitRequestSchema, LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema } = await sdk('types.js');

const [way, ...args] = process.argv.slice(2);
const transport = way === 'stdio'
  ? new StdioClientTransport({ command: 'roster', args, env: process.env, stderr: 'inherit' })
  : new StreamableHTTPClientTransport(new URL(way));

const seen = { asked: [], progress: [], logged: [], updated: 0 };
const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, (r) => {
  seen.asked.push(r.params.message);
  return { action: 'accept', content: { answer: 'once' } };
});
client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => { seen.logged.push(n.params.data.event); });
client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => { seen.updated++; });

await client.connect(transport);
await client.setLoggingLevel('info');
seen.tools = (await client.listTools()).tools.map((t) => t.name);
const ask = (args) => client.callTool({ name: 'worker', arguments: args }, undefined, {
  onprogress: (p) => seen.progress.push(p.message),
});
seen.first = await ask({ prompt: 'Work' });
const { session } = seen.first.structuredContent;
await client.subscribeResource({ uri: `roster://sessions/${session}` });
seen.second = await ask({ prompt: 'More', session });
seen.resources = (await client.listResources()).resources.map((r) => r.uri);
seen.read = (await client.readResource({ uri: `roster://sessions/${session}` })).contents[0].text;
seen.wrong = await ask({ prompt: '' });
await client.close();
console.log(JSON.stringify(seen));
