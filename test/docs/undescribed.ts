// Finds what the OpenAPI document does not describe. A reference without a description beside it is described by its
// record's name and fields.
interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly description?: string;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
}

export interface Documented {
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * Returns the fields (`Invoice.amount`), parameters (`listInvoices?status`) and operations (`listInvoices`) that lack a
 * description or a summary.
 */
export function undescribed(document: Documented): string[] {
  const records = Object.entries(document.components.schemas);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  return [
    ...records.flatMap(([name, schema]) => undescribedFields(name, schema)),
    ...operations.flatMap(({ operationId, summary, description, parameters }) => [
      ...(isMissing(summary) || isMissing(description) ? [operationId] : []),
      ...parameters
        .filter((parameter) => parameter.$ref === undefined && isMissing(parameter.description))
        .map(({ name }) => `${operationId}?${String(name)}`),
    ]),
  ];
}

/**
 * Returns the bodies without an example: of requests (`createInvoice request`), of successful answers (`createInvoice
 * 201`) and of events (`webhook.invoice.paid request`).
 */
export function withoutExample({ paths, webhooks = {} }: Documented): string[] {
  const operations = [paths, webhooks]
    .flatMap((part) => Object.values(part))
    .flatMap(Object.values);
  return (operations as Operation[]).flatMap(({ operationId, requestBody, responses = {} }) => {
    const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
    const bodies = [["request", requestBody] as const, ...successes];
    return bodies.flatMap(([name, body]) =>
      Object.values(body?.content ?? {}).some(({ example }) => example === undefined)
        ? [`${operationId} ${name}`]
        : [],
    );
  });
}

function undescribedFields(place: string, schema: Schema): string[] {
  const { properties = {}, items, additionalProperties, anyOf, allOf, oneOf } = schema;
  const variants = [anyOf, allOf, oneOf].flatMap((list) => list ?? []);
  const elements = [items, additionalProperties].filter((one) => typeof one === "object");
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(isMissing(field.description) ? [`${place}.${name}`] : []),
      ...undescribedFields(`${place}.${name}`, field),
    ]),
    ...elements.flatMap((element) => undescribedFields(`${place}[]`, element)),
    ...variants.flatMap((variant) => undescribedFields(place, variant)),
  ];
}

function isMissing(text: string | undefined): boolean {
  return text === undefined || text.trim() === "";
}
