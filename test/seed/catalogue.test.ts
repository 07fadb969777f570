// The operation catalogue of the seed document (sections 1, 4.1 to 4.5 and 5): a valid call of each operation, with a
// Bearer JWT and with an API key, returns its record, and a read with a known tag returns 304. Operations that the seed
// does not name are called too.
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import type { Operation } from "../../src/http/declare/operation.ts";
import { permissions } from "../../src/http/declare/permissions.ts";
import { allOperations } from "../../src/features/index.ts";
import {
  callExample,
  exampleNames,
  exampleOf,
  rightfulKey,
  type Example,
} from "../http/examples.ts";
import { openEstate, type Estate } from "../http/estate.ts";
import { parametersOf } from "../http/declare/operations.ts";
import { expectProblem } from "../http/problem.ts";
import { plausible } from "../docs/examples/plausible.ts";
import type { Answer } from "../support/app.ts";
import { eachStore } from "../support/store/stores.ts";
import { catalogue, groups } from "./catalogue.ts";

/** Operations beyond the seed that concern the user, so that no API key can call them. */
const ofUsers = ["acceptInvitation", "changePassword"];
/** True if no scope grants the operation to an API key. */
const isOfPeople = ({ access }: Operation) =>
  "permission" in access &&
  access.permission !== null &&
  permissions[access.permission].scopes.length === 0;

/** The examples of the OpenAPI document; `npm run docs:examples` records them with this suite. */
const examplesFile = new URL("../../src/http/document/examples/operations.json", import.meta.url);
const isRecording = process.env["TILL_EXAMPLES"] === "write";

const operationOf = (id: string): Operation | undefined =>
  allOperations.find((operation) => operation.id === id);
const isPublic = ({ access }: Operation) => access.kind === "public";

describe("the catalogue of operations", () => {
  it("§1 has each of the fifteen areas as a group, and 67 operations in them", () => {
    expect([...new Set(catalogue.map(({ group }) => group))]).to.deep.equal(groups);
    expect(new Set(catalogue.map(({ id }) => id)).size).to.equal(67);
    for (const { id, group } of catalogue) expect(operationOf(id)?.group, id).to.equal(group);
  });

  it("§4.5 gives each operation the method that the seed gives it", () => {
    for (const { id, method } of catalogue) {
      if (method !== null) expect(operationOf(id)?.method, id).to.equal(method);
    }
  });

  it("§5 names organizationId in the path of each operation of one organization, and groups those of admins apart", () => {
    for (const { id, group } of catalogue) {
      const { path = "", access } = operationOf(id) ?? {};
      if (access?.kind === "organization")
        expect(path, id).to.match(/^\/organizations\/\{organizationId\}/);
      expect(path.startsWith("/admin/"), id).to.equal(group === "Admin");
    }
  });

  it("has an example for no operation that is gone", () => {
    expect(exampleNames.filter((name) => operationOf(name) === undefined)).to.deep.equal([]);
  });
});

eachStore("every operation", (store) => {
  let estate: Estate;
  /** Timestamps in the responses of the walk. */
  const times = new Set<string>();
  const recorded = new Map<string, { readonly request?: unknown }>();

  before(async () => {
    estate = await openEstate(store);
  });
  after(() => estate.stop());

  /** Records a call with its answer, as an example of the document. */
  function record(operation: Operation, example: Example, { text, body }: Answer): void {
    const ids = { ...estate.things, ...example.ids };
    const path = Object.fromEntries(parametersOf(operation).map((name) => [name, ids[name]]));
    const query = Object.fromEntries(new URLSearchParams(example.query));
    const call = {
      ...(Object.keys(path).length === 0 ? {} : { path }),
      ...(Object.keys(query).length === 0 ? {} : { query }),
      ...(operation.body === null ? {} : { request: example.body ?? {} }),
      // The document has the first line of a CSV file.
      ...(text === "" || operation.csv !== null ? {} : { response: body }),
    };
    recorded.set(operation.id, plausible(call) as { readonly request?: unknown });
  }

  /** Makes a valid call with one of the two credentials. In tests, a response that does not fit its record is a 500. */
  async function callWith(operation: Operation, scheme: "token" | "key") {
    const example = await exampleOf(operation, estate);
    if (scheme === "token") {
      const token = (example.caller ?? estate.owner).token;
      const credential = isPublic(operation) ? { credential: { token } } : {};
      const answer = await callExample(operation, estate, example, credential);
      record(operation, example, answer);
      return answer;
    }
    const key = await rightfulKey(operation, estate, example);
    return callExample(operation, estate, example, { credential: { key } });
  }

  async function expectAnswered(operation: Operation): Promise<void> {
    for (const scheme of ["token", "key"] as const) {
      const answer = await callWith(operation, scheme);
      if (scheme === "key" && ofUsers.includes(operation.id)) {
        expectProblem(answer, 403, "user_needed");
        continue;
      }
      if (scheme === "key" && isOfPeople(operation)) {
        expectProblem(answer, 403, "forbidden");
        continue;
      }
      expect(answer.status, `${scheme}: ${answer.text}`).to.equal(operation.status);
      const isEmpty = operation.record === null && operation.csv === null;
      expect(answer.text === "", answer.text).to.equal(isEmpty);
      for (const time of answer.text.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? []) times.add(time);
      if (isEmpty) continue;
      const type = operation.csv === null ? /^application\/json\b/ : /^text\/csv; charset=utf-8/;
      expect(answer.headers.get("Content-Type"), scheme).to.match(type);
    }
    if (operation.method === "GET" && operation.csv === null) await expectNotModified(operation);
  }

  /** All responses of the estate's app pass through `expectDeclared`: a 304 has the documented headers. */
  async function expectNotModified(operation: Operation): Promise<void> {
    const headers = { "If-None-Match": "*" };
    const answer = await callExample(operation, estate, await exampleOf(operation, estate), {
      headers,
    });
    expect([answer.status, answer.text]).to.deep.equal([304, ""]);
    expect(answer.headers.get("ETag")).to.match(/^"/);
  }

  for (const { id, group, purpose } of catalogue) {
    const ignoring = ["Auth", "Checkout"].includes(group);
    const accepting = ignoring ? "is answered with either credential" : "accepts both credentials";
    it(`§5 ${accepting}: ${group}, ${purpose}`, async () => {
      const operation = operationOf(id);
      if (operation === undefined) throw new Error(`there is no operation ${id}`);
      expect(isPublic(operation), "needs no credential").to.equal(ignoring);
      await expectAnswered(operation);
    });
  }

  for (const operation of allOperations) {
    if (catalogue.some(({ id }) => id === operation.id)) continue;
    const isOfUsers = ofUsers.includes(operation.id) || isOfPeople(operation);
    const keys = isOfUsers ? "a user's token alone" : "both credentials";
    it(`beyond the seed: ${operation.id} accepts ${keys}`, () => expectAnswered(operation));
  }

  it("accepts the request in each example of the document", async () => {
    const calls = allOperations.flatMap(({ id }) => {
      const call = recorded.get(id);
      return call === undefined ? [] : [[id, call] as const];
    });
    if (isRecording) {
      await writeFile(examplesFile, `${JSON.stringify(Object.fromEntries(calls), null, 2)}\n`);
    }
    const examples = JSON.parse(readFileSync(examplesFile, "utf8")) as Record<
      string,
      { readonly request?: unknown } | undefined
    >;
    const help = "run npm run docs:examples and npm run docs";
    expect(Object.keys(examples), help).to.have.members(allOperations.map(({ id }) => id));
    for (const [id, { request }] of calls) {
      expect(examples[id]?.request, `${id}: ${help}`).to.deep.equal(request);
    }
  });

  it("answers with timestamps in ISO 8601 with milliseconds and a Z suffix alone", () => {
    expect(times.size).to.be.greaterThan(100);
    const others = [...times].filter((time) => !/^"[\d-]{10}T[\d:]{8}\.\d{3}Z"$/.test(time));
    expect(others).to.deep.equal([]);
  });
});
