import { operations, type Till } from "./generated/operations.ts";
import { pagesOf, type Page } from "./pages.ts";
import {
  makeTransport,
  type OperationCall,
  type Parts,
  type TillOptions,
  type Transport,
} from "./transport.ts";

/** Returns a client of an instance. Its methods are the operations, by area: `till.invoices.create(…)`. */
export function openTill(options: TillOptions): Till {
  const send = makeTransport(options);
  const areas = Object.entries(operations).map(([area, calls]) => {
    const methods = Object.entries(calls).map(([name, operation]) => [
      name,
      (...words: readonly unknown[]) => callOf(send, operation, words),
    ]);
    return [area, Object.fromEntries(methods) as unknown] as const;
  });
  // The table and the types are generated from the same operations.
  return Object.fromEntries(areas) as unknown as Till;
}

/** Calls an operation with the arguments of its method: path parameters, body, query, options. */
function callOf(send: Transport, operation: OperationCall, words: readonly unknown[]): unknown {
  const rest = [...words];
  const path = rest.splice(0, operation.path.split("{").length - 1) as string[];
  const body = operation.hasBody === true ? (rest.shift() ?? {}) : undefined;
  const query = operation.hasQuery === true ? (rest.shift() as Parts["query"]) : undefined;
  const options = (rest.shift() ?? {}) as Parts["options"];
  const parts = { path, body, query, options };
  const { cursor } = operation;
  if (cursor === undefined) return send(operation, parts);
  return pagesOf((at) => {
    const from = at === undefined ? {} : { [cursor]: at };
    return send(operation, { ...parts, query: { ...query, ...from } }) as Promise<Page<unknown>>;
  });
}
