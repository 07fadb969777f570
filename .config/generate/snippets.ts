// Writes the recorded call of an operation as a program in curl, TypeScript, Python and PHP.
import type { Operation } from "../../src/http/declare/operation.ts";
import type { OperationExample } from "../../src/http/document/openapi.ts";
import { clientName, listedValues } from "./client.ts";
import { format } from "oxfmt";
import type { Schema } from "./fields.ts";

/** A program that calls an operation. */
export interface Snippet {
  readonly title: "curl" | "TypeScript" | "Python" | "PHP";
  /** The language, as Markdown names it. */
  readonly fence: "sh" | "ts" | "python" | "php";
  readonly code: string;
}

interface Call {
  readonly operation: Operation;
  /** From `/v1` on, with the query. */
  readonly target: string;
  readonly body: unknown;
  /** The environment variable with the credential; null if none is needed. */
  readonly credential: "KEY" | "TOKEN" | null;
  /** The merchant's own id by which the call is idempotent; null for a random one. */
  readonly ownKey: string | null;
}

/** The schemas of an operation's parameters, by name. */
export type QuerySchemas = Readonly<Record<string, Pick<Schema, "type" | "pattern"> | undefined>>;

/** Returns the programs. Each reads the instance's address from `TILL` and the credential from `KEY` or `TOKEN`. */
export async function snippetsOf(
  operation: Operation,
  example: OperationExample,
  schemas: QuerySchemas,
): Promise<readonly Snippet[]> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(example.path?.[name] ?? name),
  );
  const query = new URLSearchParams(example.query).toString();
  const isForUsers = operation.errors.some(({ definition }) => definition.code === "user_needed");
  const { externalId = null } = (example.request ?? {}) as { readonly externalId?: string };
  const call: Call = {
    operation,
    target: `/v1${path}${query === "" ? "" : `?${query}`}`,
    body: operation.body === null ? undefined : (example.request ?? {}),
    credential: operation.access.kind === "public" ? null : isForUsers ? "TOKEN" : "KEY",
    ownKey: externalId,
  };
  return [
    { title: "curl", fence: "sh", code: curl(call) },
    { title: "TypeScript", fence: "ts", code: await typescript(call, example, schemas) },
    { title: "Python", fence: "python", code: python(call) },
    { title: "PHP", fence: "php", code: php(call) },
  ];
}

/** Returns a text in the quotes of a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function curl({ operation, target, body, credential, ownKey }: Call): string {
  const { method, idempotent, csv } = operation;
  const key =
    ownKey === null
      ? '"Idempotency-Key: $(openssl rand -hex 16)"'
      : shellQuoted(`Idempotency-Key: ${ownKey}`);
  const lines = [
    `curl --fail-with-body${method === "GET" ? "" : ` --request ${method}`} "$TILL${target}"`,
    ...(credential === "KEY" ? ['--header "X-Service-Key: $KEY"'] : []),
    ...(credential === "TOKEN" ? ['--header "Authorization: Bearer $TOKEN"'] : []),
    ...(idempotent ? [`--header ${key}`] : []),
    ...(body === undefined
      ? []
      : [
          '--header "Content-Type: application/json"',
          `--data ${shellQuoted(JSON.stringify(body, null, 2))}`,
        ]),
    ...(csv === null ? [] : ["--output export.csv"]),
  ];
  return lines.join(" \\\n  ");
}

async function typescript(
  { operation, body, credential, ownKey }: Call,
  example: OperationExample,
  schemas: QuerySchemas,
): Promise<string> {
  const { area, name } = clientName(operation.id, operation.group);
  const ids = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, each = ""]) =>
    JSON.stringify(example.path?.[each] ?? each),
  );
  const query = typedQuery(example, schemas);
  const words = [
    ...ids,
    ...(body === undefined ? [] : [JSON.stringify(body)]),
    ...(query === null ? [] : [JSON.stringify(query)]),
    ...(ownKey === null || !operation.idempotent
      ? []
      : [`{ idempotencyKey: ${JSON.stringify(ownKey)} }`]),
  ];
  const options = [
    'url: process.env["TILL"] ?? ""',
    ...(credential === "KEY" ? ['apiKey: process.env["KEY"] ?? ""'] : []),
    ...(credential === "TOKEN" ? ['accessToken: process.env["TOKEN"] ?? ""'] : []),
  ];
  const called = `till.${area}.${name}(${words.join(", ")})`;
  const isList = "cursor" in operation.query || "after" in operation.query;
  const isEmpty = operation.record === null && operation.csv === null;
  const use = isList
    ? `for await (const item of ${called}) console.log(item);`
    : isEmpty
      ? `await ${called};`
      : `console.log(await ${called});`;
  const code = `import { openTill } from "till-client";\n\nconst till = openTill({ ${options.join(", ")} });\n${use}\n`;
  const { code: lines, errors } = await format("example.ts", code, { printWidth: 80 });
  if (errors.length > 0) throw new Error(`${operation.id}: ${errors.map(String).join()}`);
  return lines.trimEnd();
}

/** The query as the client takes it, with numbers and lists; null without one. */
function typedQuery(
  example: OperationExample,
  schemas: QuerySchemas,
): Readonly<Record<string, string | number | readonly string[]>> | null {
  const sent = Object.entries(example.query ?? {});
  if (sent.length === 0) return null;
  const typed = ([name, value]: readonly [string, string]) => {
    const schema = schemas[name] ?? {};
    if (schema.type === "integer") return [name, Number(value)] as const;
    return [name, listedValues(schema) === null ? value : value.split(",")] as const;
  };
  return Object.fromEntries<string | number | readonly string[]>(sent.map(typed));
}

function python({ operation, target, body, credential, ownKey }: Call): string {
  const { method, idempotent, csv, record } = operation;
  const key = ownKey === null ? "str(uuid.uuid4())" : pythonOf(ownKey, "");
  const headers = [
    ...(credential === "KEY" ? ['"X-Service-Key": os.environ["KEY"],'] : []),
    ...(credential === "TOKEN" ? ['"Authorization": "Bearer " + os.environ["TOKEN"],'] : []),
    ...(idempotent ? [`"Idempotency-Key": ${key},`] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
  ];
  const isJson = body !== undefined || record !== null;
  const modules = [
    ...(isJson ? ["json"] : []),
    "os",
    "urllib.request",
    ...(idempotent && ownKey === null ? ["uuid"] : []),
  ];
  const use =
    csv !== null
      ? "response.read().decode()"
      : record !== null
        ? "json.load(response)"
        : "response.status";
  return [
    ...modules.map((name) => `import ${name}`),
    "",
    "request = urllib.request.Request(",
    `    os.environ["TILL"] + ${pythonOf(target, "")},`,
    `    method="${method}",`,
    ...(headers.length === 0
      ? []
      : ["    headers={", ...headers.map((line) => `        ${line}`), "    },"]),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonOf(body, "    ")}).encode(),`]),
    ")",
    "with urllib.request.urlopen(request, timeout=30) as response:",
    `    print(${use})`,
  ].join("\n");
}

/** Returns a JSON value as a Python expression. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((each) => pythonOf(each, inner))
    : Object.entries(value).map(
        ([name, held]) => `${JSON.stringify(name)}: ${pythonOf(held, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (items.length === 0) return `${String(open)}${String(close)}`;
  return `${String(open)}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${String(close)}`;
}

function php({ operation, target, body, credential, ownKey }: Call): string {
  const { method, idempotent, csv, record } = operation;
  const key =
    ownKey === null
      ? "'Idempotency-Key: ' . bin2hex(random_bytes(16))"
      : phpOf(`Idempotency-Key: ${ownKey}`, "");
  const headers = [
    ...(credential === "KEY" ? ["'X-Service-Key: ' . getenv('KEY'),"] : []),
    ...(credential === "TOKEN" ? ["'Authorization: Bearer ' . getenv('TOKEN'),"] : []),
    ...(idempotent ? [`${key},`] : []),
    ...(body === undefined ? [] : ["'Content-Type: application/json',"]),
  ];
  const use =
    csv !== null ? "echo $answer;" : record !== null ? "print_r(json_decode($answer, true));" : "";
  return [
    "<?php",
    "$context = stream_context_create(['http' => [",
    `    'method' => '${method}',`,
    ...(headers.length === 0
      ? []
      : ["    'header' => [", ...headers.map((line) => `        ${line}`), "    ],"]),
    ...(body === undefined ? [] : [`    'content' => json_encode(${phpOf(body, "    ")}),`]),
    "    'timeout' => 30,",
    "    'ignore_errors' => true, // Reads the answer of a refusal too.",
    "]]);",
    `$stream = fopen(getenv('TILL') . ${phpOf(target, "")}, 'r', false, $context);`,
    "if ($stream === false) throw new RuntimeException('no answer');",
    "$answer = stream_get_contents($stream);",
    "$status = stream_get_meta_data($stream)['wrapper_data'][0];",
    String.raw`if (!preg_match('/ 2\d\d/', $status)) throw new RuntimeException($answer);`,
    ...(use === "" ? [] : [use]),
  ].join("\n");
}

/** Returns a JSON value as a PHP expression. */
function phpOf(value: unknown, indent: string): string {
  if (typeof value === "string") {
    return `'${value.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((each) => phpOf(each, inner))
    : Object.entries(value).map(([name, held]) => `${phpOf(name, inner)} => ${phpOf(held, inner)}`);
  if (items.length === 0) return Array.isArray(value) ? "[]" : "new stdClass()";
  return `[\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}]`;
}
