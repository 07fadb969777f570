import { schemaComparison, type Break, type Schema, type Schemas } from "./schema-changes.ts";

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

type Operations = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The parts of an OpenAPI document on which clients depend. */
export interface Contract {
  readonly paths: Operations;
  readonly webhooks?: Operations;
  readonly components: { readonly schemas: Schemas };
}

/**
 * Returns the changes that break clients of the earlier document: docs/guides/versions.md says which these are. New
 * operations, fields of answers, optional fields of requests, values and problems break nobody.
 */
export function breakingChanges(before: Contract, after: Contract): readonly Break[] {
  const compare = schemaComparison(before.components.schemas, after.components.schemas);
  const [was, is] = [operationsOf(before.paths), operationsOf(after.paths)];
  const found: Break[] = [];
  for (const [id, old] of was) {
    const now = is.get(id);
    if (now === undefined) found.push({ place: id, says: "is removed" });
    else found.push(...compareOperations(id, old, now, compare));
  }
  for (const [type, methods] of Object.entries(before.webhooks ?? {})) {
    const old = schemaOf(methods["post"]?.requestBody);
    const now = schemaOf(after.webhooks?.[type]?.["post"]?.requestBody);
    if (now === null) found.push({ place: type, says: "is removed" });
    else if (old !== null) found.push(...compare(type, old, now, "answer"));
  }
  return found;
}

/**
 * Returns the changes that a changelog does not call out: none of its lists under "Changes that break clients", above
 * the heading of the version, has the place between backquotes.
 */
export function notCalledOut(
  breaks: readonly Break[],
  changelog: string,
  version: string,
): readonly Break[] {
  const [recent = ""] = changelog.split(`\n## ${version}`);
  const sections = recent.split(/\n(?=##+ )/);
  const named = sections.filter((section) => section.startsWith("### Changes that break clients"));
  return breaks.filter(({ place }) => !named.some((section) => section.includes(`\`${place}\``)));
}

/** Returns the document without descriptions, examples and whatever else no client depends on. */
export function contractOf(document: Contract): Contract {
  const texts = new Set(["description", "example", "examples", "summary", "headers", "tags"]);
  const short = (value: unknown, isNamed: boolean): unknown => {
    if (Array.isArray(value)) return value.map((each) => short(each, false));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value as Readonly<Record<string, unknown>>);
    return Object.fromEntries(
      entries
        // A field may have one of these names.
        .filter(([name]) => isNamed || !texts.has(name))
        .map(([name, held]) => [name, short(held, name === "properties")]),
    );
  };
  const { paths, webhooks = {}, components } = document;
  const { schemas } = components;
  return short({ paths: successes(paths), webhooks, components: { schemas } }, false) as Contract;
}

function successes(paths: Operations): Operations {
  const kept = (operation: Operation): Operation => ({
    ...operation,
    responses: Object.fromEntries(
      Object.entries(operation.responses).filter(([status]) => status.startsWith("2")),
    ),
  });
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([name, each]) => [name, kept(each)])),
    ]),
  );
}

interface Placed extends Operation {
  readonly route: string;
}

function operationsOf(paths: Operations): ReadonlyMap<string, Placed> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        // The names of a path's parameters are not part of a URL.
        const route = `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`;
        return [operation.operationId, { ...operation, route }] as const;
      }),
    ),
  );
}

function compareOperations(
  id: string,
  old: Placed,
  now: Placed,
  compare: ReturnType<typeof schemaComparison>,
): readonly Break[] {
  const found: Break[] = [];
  const report = (says: string) => found.push({ place: id, says });
  if (old.route !== now.route) report(`is ${now.route}`);
  if (old.security?.length === 0 && now.security?.length !== 0) report("needs a credential");

  const [sent, expected] = [schemaOf(old.requestBody), schemaOf(now.requestBody)];
  if (now.requestBody?.required === true && old.requestBody?.required !== true) {
    report("needs a body");
  }
  if (sent !== null && expected === null) report("takes no body");
  if (sent !== null && expected !== null) found.push(...compare(id, sent, expected, "request"));

  const [answered, answers] = [successOf(old), successOf(now)];
  if (answered.status !== answers.status) report(`answers ${answers.status}`);
  if (answered.schema !== null && answers.schema === null) report("answers without a body");
  if (answered.schema !== null && answers.schema !== null) {
    found.push(...compare(id, answered.schema, answers.schema, "answer"));
  }
  return [...found, ...compareParameters(id, old, now, compare)];
}

function compareParameters(
  id: string,
  old: Operation,
  now: Operation,
  compare: ReturnType<typeof schemaComparison>,
): readonly Break[] {
  const [was, is] = [queryOf(old), queryOf(now)];
  const found: Break[] = [];
  for (const [name, parameter] of was) {
    const kept = is.get(name);
    const place = `${id}?${name}`;
    if (kept === undefined) found.push({ place, says: "is removed" });
    else found.push(...compare(place, parameter.schema ?? {}, kept.schema ?? {}, "request"));
  }
  for (const [name, { required }] of is) {
    if (required === true && was.get(name)?.required !== true) {
      found.push({ place: `${id}?${name}`, says: "is required" });
    }
  }
  return found;
}

function queryOf({ parameters = [] }: Operation): ReadonlyMap<string, Parameter> {
  const query = parameters.filter((parameter) => parameter.in === "query");
  return new Map(query.map((parameter) => [parameter.name ?? "", parameter]));
}

function successOf({ responses }: Operation): {
  readonly status: string;
  readonly schema: Schema | null;
} {
  const [status = "", body] =
    Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  return { status, schema: schemaOf(body) };
}

function schemaOf(body: Body | undefined): Schema | null {
  return body?.content?.["application/json"]?.schema ?? null;
}
