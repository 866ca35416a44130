import { LLMock } from "@copilotkit/aimock";

// Answers as the providers do: with a call first, and with text and thinking
// when it has the result. What it was asked is written as it understood it.
const mock = new LLMock({ port: 0 });
mock.addFixture({ match: { hasToolResult: true }, response: { content: "It is four.", reasoning: "Two and two." } });
mock.addFixture({ match: {}, response: { content: "I look.", toolCalls: [{ name: "read", arguments: '{"path":"a.txt"}' }] } });
await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on("end", async () => { await mock.stop(); process.exit(0); });
