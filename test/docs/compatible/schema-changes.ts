// Compares the schemas of two OpenAPI documents, as the side that reads them: Till reads requests, clients read answers.

/** The parts of JSON Schema that the records use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** A change that breaks clients, with the name by which CHANGELOG.md calls it out. */
export interface Break {
  /** An operation (`createInvoice`), a parameter (`listInvoices?status`), or a field (`Invoice.amount`). */
  readonly place: string;
  readonly says: string;
}

/** Whether Till reads the value, or the client does. */
export type Side = "request" | "answer";

const lowest = ["minLength", "minimum", "minItems"] as const;
const highest = ["maxLength", "maximum", "maxItems"] as const;

/** Returns the function that compares two schemas; it reports each record once for each side. */
export function schemaComparison(
  before: Schemas,
  after: Schemas,
): (place: string, old: Schema, now: Schema, side: Side) => readonly Break[] {
  const compared = new Set<string>();

  function compare(place: string, old: Schema, now: Schema, side: Side): readonly Break[] {
    const [from, to] = [resolved(old, before), resolved(now, after)];
    if (from.name !== null) {
      const key = `${from.name} ${String(to.name)} ${side}`;
      if (compared.has(key)) return [];
      compared.add(key);
      return compareValues(from.name, from.schema, to.schema, side);
    }
    return compareValues(place, from.schema, to.schema, side);
  }

  function compareValues(place: string, old: Schema, now: Schema, side: Side): readonly Break[] {
    const found: Break[] = [];
    const report = (says: string) => found.push({ place, says });
    const [was, is] = [variantsOf(old, before), variantsOf(now, after)];
    const lost = was.filter(({ kind }) => !is.some((each) => each.kind === kind));
    const gained = is.filter(({ kind }) => !was.some((each) => each.kind === kind));
    const kinds = (list: readonly Variant[]) => list.map(({ kind }) => kind).join(" or ");
    if (side === "request" && lost.length > 0) report(`no longer accepts ${kinds(lost)}`);
    if (side === "answer" && gained.length > 0) report(`may be ${kinds(gained)}`);
    for (const one of was) {
      const other = is.find(({ kind }) => kind === one.kind);
      if (other === undefined) continue;
      found.push(...compareKind(place, one, other, side));
    }
    return found;
  }

  function compareKind(place: string, was: Variant, is: Variant, side: Side): readonly Break[] {
    const { schema: old } = was;
    const { schema: now } = is;
    if (was.name !== null || is.name !== null) return compare(place, was.given, is.given, side);
    const removed = valuesOf(old).filter((value) => !valuesOf(now).includes(value));
    const isOpened = valuesOf(now).length === 0;
    const found: Break[] = [];
    if (removed.length > 0 && !(isOpened && side === "request")) {
      found.push({ place, says: `no longer has the values ${removed.join(", ")}` });
    }
    if (valuesOf(old).length === 0 && !isOpened && side === "request") {
      found.push({ place, says: `accepts only ${valuesOf(now).join(", ")}` });
    }
    if (side === "request") found.push(...tightened(place, old, now));
    return [
      ...found,
      ...compareFields(place, old, now, side),
      ...compareItems(place, old, now, side),
    ];
  }

  function compareFields(place: string, old: Schema, now: Schema, side: Side): readonly Break[] {
    const common = refsOf(old).filter((ref) => refsOf(now).includes(ref));
    const found = common.flatMap(($ref) => compare(place, { $ref }, { $ref }, side));
    const [former, current] = [merged(old, before, common), merged(now, after, common)];
    const [was, is] = [former.properties ?? {}, current.properties ?? {}];
    const at = (name: string) => `${place}.${name}`;
    for (const [name, schema] of Object.entries(was)) {
      const kept = is[name];
      if (kept === undefined) found.push({ place: at(name), says: "is removed" });
      else found.push(...compare(at(name), schema, kept, side));
    }
    const isRequired = (schema: Schema, name: string) => schema.required?.includes(name) === true;
    for (const name of Object.keys(is)) {
      if (side === "request" && isRequired(current, name) && !isRequired(former, name)) {
        found.push({ place: at(name), says: "is required" });
      }
      if (side === "answer" && isRequired(former, name) && !isRequired(current, name)) {
        found.push({ place: at(name), says: "may be absent" });
      }
    }
    return found;
  }

  function compareItems(place: string, old: Schema, now: Schema, side: Side): readonly Break[] {
    const { items, additionalProperties } = old;
    const inside = `${place}[]`;
    const found: Break[] = [];
    if (items !== undefined) found.push(...compare(inside, items, now.items ?? {}, side));
    if (typeof additionalProperties === "object") {
      const held = now.additionalProperties;
      found.push(
        ...compare(inside, additionalProperties, typeof held === "object" ? held : {}, side),
      );
    }
    return found;
  }

  return compare;
}

/** One of the types that a value may have. */
interface Variant {
  readonly kind: string;
  readonly given: Schema;
  readonly schema: Schema;
  readonly name: string | null;
}

function variantsOf(schema: Schema, schemas: Schemas): readonly Variant[] {
  const given = (schema.anyOf ?? [schema]).flatMap((each) =>
    Array.isArray(each.type) ? each.type.map((type) => ({ ...each, type: String(type) })) : [each],
  );
  return given.map((each) => {
    const { schema: found, name } = resolved(each, schemas);
    const isObject = found.type === "object" || found.properties !== undefined;
    const type = found.type ?? (found.allOf === undefined && !isObject ? "anything" : "object");
    return {
      kind: String(isObject ? "object" : type),
      given: each,
      schema: found,
      name,
    };
  });
}

/** The records that are parts of an `allOf`. */
function refsOf({ allOf = [] }: Schema): readonly string[] {
  return allOf.flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]));
}

/** Joins the fields of `allOf`, without the records that are compared on their own. */
function merged(schema: Schema, schemas: Schemas, except: readonly string[]): Schema {
  const parts = (schema.allOf ?? [])
    .filter(({ $ref = "" }) => !except.includes($ref))
    .map((part) => merged(resolved(part, schemas).schema, schemas, except));
  if (parts.length === 0) return schema;
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as Schemas,
    required: parts.flatMap(({ required = [] }) => required),
  };
}

function resolved(schema: Schema, schemas: Schemas): { schema: Schema; name: string | null } {
  if (schema.$ref === undefined) return { schema, name: null };
  const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
  const found = schemas[name];
  if (found === undefined) throw new Error(`the document has no record ${name}`);
  return { schema: found, name };
}

function valuesOf({ enum: values, const: only }: Schema): readonly string[] {
  return (only === undefined ? (values ?? []) : [only]).map(String);
}

function tightened(place: string, old: Schema, now: Schema): readonly Break[] {
  const found: Break[] = [];
  for (const name of [...lowest, ...highest]) {
    const limit = now[name];
    if (limit === undefined) continue;
    const former = old[name];
    const isLower = (lowest as readonly string[]).includes(name);
    const isTighter = former === undefined || (isLower ? limit > former : limit < former);
    if (isTighter) found.push({ place, says: `has the ${name} ${String(limit)}` });
  }
  for (const name of ["pattern", "format"] as const) {
    const rule = now[name];
    if (rule !== undefined && rule !== old[name]) {
      found.push({ place, says: `must match another ${name}` });
    }
  }
  if (old.additionalProperties !== false && now.additionalProperties === false) {
    found.push({ place, says: "refuses other fields" });
  }
  return found;
}
