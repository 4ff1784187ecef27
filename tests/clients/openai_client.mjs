// Chats with a Mnemic server through the official OpenAI client: only its base URL and key differ.
//
//   node openai_client.mjs URL TOKEN          URL as in http://127.0.0.1:7077/v1
//
// The upstream is the scripted one of the tests. Exits with 1 on any mismatch. Needs the package
// `openai`; OPENAI_PACKAGE says where it is.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [baseURL, apiKey] = process.argv.slice(2);
assert.ok(apiKey, "usage: node openai_client.mjs URL TOKEN");
const require = createRequire(`${process.env.OPENAI_PACKAGE ?? process.cwd()}/`);
const { OpenAI, AuthenticationError } = require("openai");

const client = new OpenAI({ baseURL, apiKey });
const messages = [{ role: "user", content: "What does Ana drink in the morning?" }];

const models = await client.models.list();
assert.deepEqual(models.data.map((model) => model.id), ["scripted"]);

const answer = await client.chat.completions.create({ model: "scripted", messages });
const text = answer.choices[0].message.content;
assert.match(text, /tea \[mem:/);
assert.equal(answer.usage.total_tokens, 15);

const pieces = [];
for await (const chunk of await client.chat.completions.create({
  model: "scripted",
  messages,
  stream: true,
})) {
  pieces.push(chunk.choices[0].delta.content ?? "");
}
assert.ok(pieces.length > 5);
assert.equal(pieces.join(""), text);

const { data, response } = await client.chat.completions
  .create(
    { model: "scripted", messages },
    { headers: { "x-mnemic-memory": "off", "x-mnemic-conversation": "node" } },
  )
  .withResponse();
assert.equal(response.headers.get("x-mnemic-conversation"), "node");
assert.doesNotMatch(data.choices[0].message.content, /\[mem:/);

await assert.rejects(
  new OpenAI({ baseURL, apiKey: "nonsense" }).models.list(),
  (error) => error instanceof AuthenticationError && /token of Mnemic/.test(error.message),
);
