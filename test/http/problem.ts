import { expect } from "chai";
import type { Answer } from "../support/app.ts";

/** A wrong value; it has exactly one of `pointer`, `parameter` and `header`. */
export interface FieldFault {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  readonly code: string;
  readonly message: string;
}

/** Checks that an answer is a problem of this kind, in the one shape that they all have; gives its faults. */
export function expectProblem(answer: Answer, status: number, code: string): readonly FieldFault[] {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.get("Content-Type")).to.match(/^application\/problem\+json\b/);
  expect(Object.keys(answer.body).sort()).to.deep.equal(
    ["code", "detail", "errors", "requestId", "status", "title", "type"],
    answer.text,
  );
  expect(answer.body["code"], answer.text).to.equal(code);
  expect(answer.body["status"]).to.equal(status);
  expect(answer.body["requestId"]).to.equal(answer.headers.get("X-Request-Id"));
  expect(answer.body["type"]).to.equal(`/docs/problems#${code}`);
  expect(answer.body["title"]).to.be.a("string").and.not.equal("");
  expect(answer.body["detail"]).to.be.a("string").and.not.equal("");
  expect(answer.text).not.to.match(/node_modules|at async|SELECT |INSERT |\.ts:\d/);
  const faults = answer.body["errors"] as readonly FieldFault[];
  for (const fault of faults) {
    const { code, message, ...place } = fault;
    expect([typeof code, typeof message]).to.deep.equal(["string", "string"]);
    expect(Object.keys(place), answer.text).to.have.length(1);
    expect(["pointer", "parameter", "header"], answer.text).to.include.members(Object.keys(place));
  }
  return faults;
}

/** The place of a wrong value in short: a JSON Pointer, `?` and a parameter's name, or a header's name. */
export function placeOf({ pointer, parameter, header = "" }: FieldFault): string {
  return pointer ?? (parameter === undefined ? header : `?${parameter}`);
}

/** The places of the wrong values, sorted. */
export function pointersOf(answer: Answer): readonly string[] {
  return expectProblem(answer, 400, "invalid_request").map(placeOf).sort();
}

/** The parts of a response that must be equal so that neither response reveals more: all but the request's own data. */
export function withoutRequest(answer: Answer): unknown {
  const { requestId: _requestId, ...body } = answer.body;
  const varying = new Set(["date", "x-request-id", "content-length", "ratelimit"]);
  const headers = [...answer.headers].filter(([name]) => !varying.has(name)).sort();
  return { status: answer.status, body, headers };
}
