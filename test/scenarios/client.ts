import { openTill, type Till } from "../../src/client/index.ts";
import type { TillOptions } from "../../src/client/index.ts";
import { allOperations } from "../../src/features/index.ts";
import { expectDeclared } from "../support/declared.ts";
import { noteProblem } from "../support/problems-seen.ts";
import { patienceMs } from "../support/until.ts";

/**
 * Opens Till's client, as a merchant's developer does. Responses that the OpenAPI document does not declare fail the
 * call, and problems are recorded, as for requests by `send`.
 */
export function openClient(options: TillOptions): Till {
  return openTill({
    timeoutMs: patienceMs,
    ...options,
    async fetch(target, init) {
      const response = await fetch(target, init);
      if (!response.ok) {
        const problem: unknown = await response
          .clone()
          .json()
          .catch(() => null);
        const { pathname } = new URL(target instanceof Request ? target.url : target);
        noteProblem(init?.method ?? "GET", pathname, problem);
      }
      return response;
    },
    onAnswer(answer) {
      const operation = allOperations.find(({ id }) => id === answer.operationId);
      if (operation === undefined) throw new Error(`no operation is ${answer.operationId}`);
      expectDeclared(operation.method, `/v1${operation.path}`, answer);
    },
  });
}
