import { expect } from "chai";
import fc from "fast-check";
import { z } from "zod";
import type { Operation } from "../../src/http/declare/operation.ts";
import { problemsOf } from "../../src/http/declare/responses.ts";
import { problemsOfAnyRequest } from "../../src/http/declare/problems.ts";
import { allOperations } from "../../src/features/index.ts";
import { approvedMerchant, eachServed, platformAdmin, type Person } from "../support/app.ts";
import { pathOf } from "./declare/operations.ts";
import { expectProblem } from "./problem.ts";
import { makeThings, settingsForThings } from "./things.ts";

/** Requests for each operation on each database; `npm run prove` gives more. */
const runs = Number(process.env["TILL_FUZZ_RUNS"] ?? "12");

type Json = Record<string, unknown>;

const hostileTexts = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u202eabc",
  "__proto__",
  "constructor",
  "null",
  "NaN",
  "-0",
  "1e400",
  "0x10",
  "1,5",
  "١",
  "99999999999999999999999999999999999999",
  "0.0000000000000000001",
  "'; DROP TABLE users; --",
  "%00",
  "../../etc/passwd",
  "http://127.0.0.1/",
  "http://[::ffff:7f00:1]/",
  "javascript:alert(1)",
  "💩".repeat(50),
  "x".repeat(10_000),
  "a".repeat(40) + "!",
  "2027-02-30T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  "till_test_" + "0".repeat(49),
  "\r\nX-Injected: 1",
];

/** Values that match almost no schema. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...hostileTexts),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, [[]]),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
);

function textOf(schema: Json): fc.Arbitrary<string> {
  const { pattern, format, maxLength } = schema;
  if (format === "email") return fc.emailAddress();
  if (format === "date-time") {
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(8e12) })
      .map((date) => date.toISOString());
  }
  const longest = typeof maxLength === "number" ? Math.min(maxLength, 100) : 40;
  const any = fc.string({ unit: "grapheme", minLength: 1, maxLength: longest });
  return typeof pattern === "string" ? (textMatching(pattern, longest) ?? any) : any;
}

const matching = new Map<string, fc.Arbitrary<string> | null>();

/** Returns texts of a pattern; null if fast-check does not know one of its constructs. Many fields share a pattern. */
function textMatching(pattern: string, maxLength: number): fc.Arbitrary<string> | null {
  const key = `${String(maxLength)} ${pattern}`;
  let known = matching.get(key);
  if (known === undefined) {
    try {
      known = fc.stringMatching(new RegExp(pattern, "u"), { maxLength });
    } catch {
      known = null;
    }
    matching.set(key, known);
  }
  return known;
}

/** Values of a JSON Schema, most of them good, some hostile. */
function valueOf(schema: Json, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 7, arbitrary: goodValueOf(schema, depth) },
    { weight: 2, arbitrary: hostile },
  );
}

function goodValueOf(schema: Json, depth: number): fc.Arbitrary<unknown> {
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as Json[] | undefined;
  if (choices !== undefined) {
    return fc.oneof(...choices.map((choice) => goodValueOf(choice, depth)));
  }
  if (Array.isArray(schema["enum"]))
    return fc.constantFrom<unknown>(...(schema["enum"] as unknown[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  switch (schema["type"]) {
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return fc.integer({ min: -5, max: 3_000_000 });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valueOf((schema["items"] ?? {}) as Json, depth + 1), { maxLength: 4 });
    case "object":
      return objectOf(schema, depth);
    default:
      return hostile;
  }
}

function objectOf(schema: Json, depth: number): fc.Arbitrary<unknown> {
  const properties = (schema["properties"] ?? {}) as Record<string, Json>;
  const required = (schema["required"] ?? []) as string[];
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valueOf(property, depth + 1)]),
  );
  const requiredKeys = fc.oneof(
    { weight: 6, arbitrary: fc.constant(required) },
    { weight: 1, arbitrary: fc.subarray(required) },
  );
  const own = requiredKeys.chain((names) => fc.record(fields, { requiredKeys: names as never[] }));
  const extra = fc.oneof(
    { weight: 9, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(fc.string({ maxLength: 12 }), hostile, { maxKeys: 2 }) },
  );
  return fc.tuple(own, extra).map(([left, right]) => ({ ...right, ...left }));
}

interface Sent {
  /** Whether the ids in the path are of what is there. */
  readonly isReal: boolean;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

function requestsOf(operation: Operation): fc.Arbitrary<Sent> {
  const schemaOf = (schema: z.ZodType) =>
    z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  const query = fc.record(
    Object.fromEntries(
      Object.entries(operation.query).map(([name, schema]) => [name, valueOf(schemaOf(schema))]),
    ),
    { requiredKeys: [] },
  );
  const body: fc.Arbitrary<unknown> =
    operation.body === null ? fc.constant(undefined) : valueOf(schemaOf(operation.body));
  return fc.record({ isReal: fc.boolean(), query, body });
}

function queryText(query: Sent["query"]): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text =
        typeof value === "string" ? value : (JSON.stringify(value) as string | undefined);
      return `${name}=${encodeURIComponent((text ?? "").toWellFormed())}`;
    });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

eachServed(
  "any input to",
  (served) => {
    let admin: Person;
    let merchant: Person & { readonly key: string };
    let things: Record<string, string>;

    before(async () => {
      admin = await platformAdmin(served.app);
      merchant = await approvedMerchant(served.app);
      things = await makeThings(served.app, merchant);
    });

    function credentialOf(operation: Operation): object {
      if (operation.access.kind === "public") return {};
      return { token: operation.access.kind === "platform" ? admin.token : merchant.token };
    }

    for (const operation of allOperations) {
      // Hashing a password takes long on purpose.
      const count = operation.path.startsWith("/auth/") ? Math.ceil(runs / 2) : runs;
      it(`${operation.id} gets a response that the operation declares`, async () => {
        const declared = [...problemsOfAnyRequest, ...problemsOf(operation)].map(
          ({ definition }) => `${String(definition.status)} ${definition.code}`,
        );
        await fc.assert(
          fc.asyncProperty(requestsOf(operation), async ({ isReal, query, body }) => {
            const { organizationId } = merchant;
            const path = pathOf(operation, isReal ? things : { organizationId });
            const answer = await served.app.request(operation.method, path + queryText(query), {
              ...credentialOf(operation),
              ...(body === undefined ? {} : { body }),
              headers: { "Accept-Encoding": isReal ? "gzip" : "br" },
            });
            if (answer.status < 400) {
              expect(answer.status).to.equal(operation.status);
              return;
            }
            const code = answer.body["code"] as string;
            expect(answer.status, answer.text).not.to.equal(500);
            expectProblem(answer, answer.status, code);
            expect(declared, answer.text).to.include(`${String(answer.status)} ${code}`);
          }),
          { numRuns: count },
        );
      });
    }
  },
  { settings: settingsForThings },
);
