// Reads what lathe's test server answers by the vendors' own SDKs: an adapter that
// reads the test server then reads the vendors. Argument: the directory of answers.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const dir = process.argv[2];
const told = [
  ['text hello, 世界'],
  ['reasoning hm', 'text so', 'call read {"path":"a"}', 'call list {}'],
  ['text cut', 'cut off'],
];
const answering = (body) => ({
  apiKey: 'none',
  maxRetries: 0,
  fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
});
const ask = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

const readers = {
  async anthropic(body) {
    const m = await new Anthropic(answering(body)).messages.stream({ ...ask, max_tokens: 1 }).finalMessage();
    const out = m.content.map((b) => {
      if (b.type === 'text') return `text ${b.text}`;
      if (b.type === 'thinking') return `reasoning ${b.thinking}`;
      return `call ${b.name} ${JSON.stringify(b.input)}`;
    });
    return m.stop_reason === 'max_tokens' ? [...out, 'cut off'] : out;
  },
  async openai(body) {
    const r = await new OpenAI(answering(body)).responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    const out = r.output.map((i) => {
      if (i.type === 'message') return `text ${i.content[0].text}`;
      if (i.type === 'reasoning') return `reasoning ${i.summary[0].text}`;
      return `call ${i.name} ${i.arguments}`;
    });
    return r.incomplete_details?.reason === 'max_output_tokens' ? [...out, 'cut off'] : out;
  },
  async openaichat(body) {
    const out = [];
    const calls = [];
    let text = '';
    let reasoning = '';
    let end = '';
    // Not the accumulating stream, which throws at an answer that was cut off.
    for await (const c of await new OpenAI(answering(body)).chat.completions.create({ ...ask, stream: true })) {
      const choice = c.choices[0];
      if (!choice) continue;
      text += choice.delta.content ?? '';
      reasoning += choice.delta.reasoning_content ?? '';
      end = choice.finish_reason ?? end;
      for (const t of choice.delta.tool_calls ?? []) {
        calls[t.index] ??= { name: '', args: '' };
        calls[t.index].name += t.function?.name ?? '';
        calls[t.index].args += t.function?.arguments ?? '';
      }
    }
    if (reasoning) out.push(`reasoning ${reasoning}`);
    if (text) out.push(`text ${text}`);
    for (const c of calls) out.push(`call ${c.name} ${c.args}`);
    return end === 'length' ? [...out, 'cut off'] : out;
  },
};

let failed = 0;
let read = 0;
for (const name of readdirSync(dir)) {
  const [, protocol, i] = /^(\w+)-(\d+)\.sse$/.exec(name);
  if (!readers[protocol]) continue; // judged elsewhere
  let got;
  try {
    got = await readers[protocol](readFileSync(join(dir, name)));
  } catch (err) {
    got = [`error ${err}`];
  }
  read++;
  if (JSON.stringify(got) !== JSON.stringify(told[i])) {
    failed++;
    console.error(`${name} is read as`, got, 'not as', told[i]);
  }
}
console.log(`${read} answers read by the vendors' SDKs, ${failed} wrongly`);
process.exit(failed || !read ? 1 : 0);
