import type * as z from "zod";
import type { CsvCell } from "../../kernel/csv.ts";
import type { ProblemClass } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import type { App } from "../../app.ts";
import type { CommandLine, DeclaredCommandLine } from "./command.ts";
import type { Access, Principal, MembershipAccess } from "./permissions.ts";
import type { RateLimitName } from "../pipeline/rate-limits.ts";

/** The columns of a CSV file, in order: their names and, for the reference, what they contain. */
export type CsvColumns = Readonly<Record<string, string>>;

/** The content of a CSV file, which is read page by page while it is sent. */
export interface CsvContent {
  /** The columns' names. */
  readonly head: readonly string[];
  /** Some rows at a time; each has a cell for every column. */
  readonly pages: AsyncIterable<readonly (readonly CsvCell[])[]>;
  /** Such as `invoices.csv`. */
  readonly fileName: string;
}

export const groups = [
  "Auth",
  "Organizations",
  "Users",
  "API Keys",
  "Customers",
  "Networks",
  "Wallets",
  "Invoices",
  "Checkout",
  "Payments",
  "Webhooks",
  "Usage",
  "Billing",
  "Analytics",
  "Audit Logs",
  "Admin",
] as const;
export type Group = (typeof groups)[number];

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** Every parameter name that a path may contain, with its kind of id; null for a parameter that is not an id. */
export const pathParameters = {
  organizationId: "organization",
  membershipId: "membership",
  invitationId: "invitation",
  apiKeyId: "apiKey",
  customerId: "customer",
  walletId: "wallet",
  invoiceId: "invoice",
  paymentId: "payment",
  transferId: "transfer",
  refundId: "refund",
  webhookEndpointId: "webhookEndpoint",
  webhookDeliveryId: "webhookDelivery",
  paymentLinkId: "paymentLink",
  eventId: "event",
  platformInvoiceId: "platformInvoice",
  checkoutId: null,
  queue: null,
  network: null,
} as const;

type ParameterValue<Name extends string> = Name extends keyof typeof pathParameters
  ? (typeof pathParameters)[Name] extends null
    ? string
    : Id<NonNullable<(typeof pathParameters)[Name]>>
  : never;

/** `/a/{organizationId}/b` → `{ organizationId: Id<"organization"> }` */
type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: ParameterValue<K> } & PathParams<Rest>
  : unknown;

/** The input of a handler. `actor` and `organizationId` are present as the operation's access guarantees. */
type Call<A extends Access, Path extends string, Query, Body, Result> = {
  readonly params: PathParams<Path>;
  readonly query: Query;
  readonly body: Body;
  /** Passed to the function, which passes it to `db.write`. */
  readonly context: WriteContext;
  /**
   * Throws PreconditionFailed if the request's `If-Match` does not name the current state. A function that changes an
   * object calls it inside its transaction with the state it read there.
   */
  readonly expect: (current: Result) => void;
} & (A extends { kind: "public" }
  ? unknown
  : { readonly actor: Principal } & (A extends { kind: "organization" }
      ? { readonly organizationId: Id<"organization">; readonly membership: MembershipAccess }
      : unknown));

type QueryShape = Readonly<Record<string, z.ZodType>>;
type NoQuery = Readonly<Record<string, never>>;
type QueryOf<Q extends QueryShape> = { readonly [K in keyof Q]: z.output<Q[K]> };
/** The names of the fields of a query and a body. */
type FieldOf<Q, B extends z.ZodType> = Extract<
  (string extends keyof Q ? never : keyof Q) | keyof z.input<B>,
  string
>;

interface Declaration<
  A extends Access,
  Path extends string,
  Q extends QueryShape,
  B extends z.ZodType,
  R extends z.ZodType,
  Result,
> {
  readonly id: string;
  readonly group: Group;
  readonly method: Method;
  /** Path below /v1. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly access: A;
  readonly request?: { readonly query?: Q; readonly body?: B };
  readonly response:
    | { readonly status: 200 | 201 | 202; readonly record: R }
    /** The result is a `CsvContent`, which `present` returns as it is. */
    | { readonly status: 200; readonly csv: CsvColumns }
    | { readonly status: 204 };
  /** Problems specific to this operation, in addition to those of every operation of its kind. */
  readonly errors: readonly ProblemClass[];
  /** The rate limit that counts its calls; `credential` by default. */
  readonly limit?: RateLimitName;
  /** False for operations that issue sessions: they ignore the Idempotency-Key. */
  readonly idempotent?: false;
  /** Supports `If-Match`, as every PATCH does: its handler calls `expect` with the object it is about to change. */
  readonly conditional?: true;
  /** The response contains a secret: it is stored encrypted under the Idempotency-Key and never compressed. */
  readonly secretResponse?: true;
  /**
   * Must return the result of its write as it is: with an Idempotency-Key, `present` gets that result within the
   * transaction.
   */
  readonly handle: (
    app: App,
    call: Call<A, Path, QueryOf<Q>, z.output<B>, Result>,
  ) => Promise<Result>;
  /** Must be pure: it also runs inside the transaction to store the response for an Idempotency-Key. */
  readonly present: (result: Result) => z.input<R>;
  /** True if the function itself found the result of an earlier request; sets the Idempotent-Replayed header. */
  readonly isReplayed?: (result: Result) => boolean;
  /** The command, or the commands, that call the operation for an operator at a terminal. */
  readonly cli?:
    | CommandLine<Result, z.input<R>, FieldOf<Q, B>>
    | readonly CommandLine<Result, z.input<R>, FieldOf<Q, B>>[];
}

/** A declared operation with its types erased, as the router and the document generators read it. */
export interface Operation {
  readonly id: string;
  readonly group: Group;
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly description: string | null;
  readonly access: Access;
  readonly query: QueryShape;
  readonly body: z.ZodType | null;
  readonly status: 200 | 201 | 202 | 204;
  readonly record: z.ZodType | null;
  /** The columns of a CSV response; null for all others. */
  readonly csv: CsvColumns | null;
  readonly errors: readonly ProblemClass[];
  readonly limit: RateLimitName;
  readonly idempotent: boolean;
  readonly conditional: boolean;
  readonly secretResponse: boolean;
  readonly handle: (app: App, call: AnyCall) => Promise<unknown>;
  readonly present: (result: unknown) => unknown;
  readonly isReplayed: (result: unknown) => boolean;
  readonly cli: readonly DeclaredCommandLine[];
}

export interface AnyCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly context: WriteContext;
  readonly actor: Principal | null;
  readonly organizationId: Id<"organization"> | null;
  readonly membership: MembershipAccess | null;
  readonly expect: (current: unknown) => void;
}

/**
 * Declares an operation. Routing, parsing, authorization, idempotency, rate limits, response validation,
 * the OpenAPI document, the reference page and the contract tests all read this one value. Access has no default.
 */
export function operation<
  const A extends Access,
  const Path extends string,
  Result,
  Q extends QueryShape = NoQuery,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodType,
>(declared: Declaration<A, Path, Q, B, R, Result>): Operation {
  return Object.freeze({
    id: declared.id,
    group: declared.group,
    method: declared.method,
    path: declared.path,
    summary: declared.summary,
    description: declared.description ?? null,
    access: declared.access,
    query: declared.request?.query ?? {},
    body: declared.request?.body ?? null,
    status: declared.response.status,
    record: "record" in declared.response ? declared.response.record : null,
    csv: "csv" in declared.response ? declared.response.csv : null,
    errors: declared.errors,
    limit: declared.limit ?? (declared.access.kind === "public" ? "checkout" : "credential"),
    idempotent: declared.method === "POST" && declared.idempotent !== false,
    conditional: declared.method === "PATCH" || declared.conditional === true,
    secretResponse: declared.secretResponse === true,
    handle: (app: App, call: AnyCall) =>
      // mount.ts has parsed and authorized the call by this declaration, so the cast is safe.
      declared.handle(app, call as unknown as Call<A, Path, QueryOf<Q>, z.output<B>, Result>),
    present: (result: unknown) => declared.present(result as Result),
    isReplayed: (result: unknown) => declared.isReplayed?.(result as Result) === true,
    // The command line passes the results of `handle` and `present` to it.
    cli: [declared.cli ?? []].flat() as readonly DeclaredCommandLine[],
  });
}

/** Whether a POST may be sent without a body because it has no required fields. */
export function mayLackBody({ method, body }: Operation): boolean {
  return method === "POST" && (body === null || body.safeParse({}).success);
}
