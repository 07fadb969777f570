import { groups, type Operation } from "../declare/operation.ts";
import { problemsOf } from "../declare/responses.ts";
import { recordName } from "../declare/record.ts";

function access(operation: Operation): string {
  switch (operation.access.kind) {
    case "public":
      return "none";
    case "authenticated":
      return "any";
    case "organization":
    case "platform":
      return `\`${operation.access.permission}\``;
  }
}

function section(operation: Operation): string[] {
  const query = Object.keys(operation.query);
  return [
    `### ${operation.id}`,
    "",
    `\`${operation.method} /v1${operation.path}\` — ${operation.summary}.`,
    "",
    ...(operation.description === null ? [] : [operation.description, ""]),
    `- Credential: ${access(operation)}`,
    ...(query.length === 0 ? [] : [`- Query: ${query.map((name) => `\`${name}\``).join(", ")}`]),
    ...(operation.body === null ? [] : [`- Body: \`${recordName(operation.body)}\``]),
    `- Answer: ${String(operation.status)}${answerOf(operation)}`,
    `- Idempotency-Key: ${operation.idempotent ? "yes" : "no"}`,
    `- Problems: ${problemsOf(operation)
      .map(({ definition }) => `${String(definition.status)} \`${definition.code}\``)
      .join(", ")}`,
    "",
  ];
}

function answerOf({ record, csv }: Operation): string {
  if (csv !== null) return ` CSV with the columns ${Object.keys(csv).join(", ")}`;
  return record === null ? "" : ` \`${recordName(record)}\``;
}

/** Renders docs/api.md: every operation with its input, response and problems. */
export function apiReference(operations: readonly Operation[]): string {
  const lines = [
    "# API reference",
    "",
    "Generated from the declarations of the operations. The records are in `openapi.json`; an instance serves it at `/v1/openapi.json` and displays it at `/docs`.",
    "",
  ];
  for (const group of groups) {
    const members = operations.filter((operation) => operation.group === group);
    if (members.length === 0) continue;
    lines.push(`## ${group}`, "", ...members.flatMap(section));
  }
  return lines.join("\n");
}
