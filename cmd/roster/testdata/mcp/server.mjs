// A server of the Model Context Protocol for tests: a line of JSON for each message.
// Its arguments are the names of its tools, which say what they were given. It writes
// its number into the file that PID_FILE names.
import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';

if (process.env.PID_FILE) writeFileSync(process.env.PID_FILE, String(process.pid));
const tools = process.argv.slice(2).map((name) => ({
  name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}));
const results = {
  initialize: (p) => ({
    protocolVersion: p.protocolVersion, serverInfo: { name: 'test', version: '1' },
    capabilities: { tools: {}, resources: {}, prompts: {} },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': (p) => p.name === 'hang' ? undefined : ({ content: [{ type: 'text', text: `${p.name}: ${p.arguments.text ?? ''}${process.env.SAYS ?? ''}` }] }),
  'resources/list': () => ({ resources: [{ uri: 'test://notes', name: 'notes' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': (p) => ({ contents: [{ uri: p.uri, mimeType: 'text/plain', text: `The notes of ${p.uri}.` }] }),
  'prompts/list': () => ({ prompts: [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'who', required: true }] }] }),
  'prompts/get': (p) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${p.arguments.who}.` } }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const result = results[method]?.(params ?? {});
  if (result) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  else if (!results[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }));
}).on('close', () => process.exit(0));
