/** A refusal by a JSON-RPC endpoint, with the `code` and `message` of its error object. */
export class JsonRpcRefusal extends Error {
  override readonly name = "JsonRpcRefusal";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface JsonRpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Makes one plain call; returns the result or throws a JsonRpcRefusal. */
export async function callJsonRpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} was answered ${String(response.status)}: ${text}`);
  const reply = JSON.parse(text) as Reply;
  if (reply.error !== undefined) {
    throw new JsonRpcRefusal(reply.error.code, reply.error.message, reply.error.data);
  }
  return reply.result;
}

/** Formats a number as in JSON-RPC: `0x1a`. */
export function hexNumber(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Returns the value as an object with unknown fields; throws on anything else. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`expected an object, got ${JSON.stringify(value)}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

export function asText(value: unknown): string {
  if (typeof value !== "string") throw new Error(`expected text, got ${JSON.stringify(value)}`);
  return value;
}
