import { expect } from "chai";
import {
  assert,
  Defect,
  InvalidRequest,
  invalidField,
  invalidFields,
  type Problem,
} from "../../src/kernel/errors.ts";

describe("a problem", () => {
  it("has a cause and a retry delay only if they were given", () => {
    const cause = new Error("the reason");
    const problem = new InvalidRequest("Wait.", { cause, retryAfterSeconds: 7 });
    expect(problem).to.include({
      cause,
      retryAfterSeconds: 7,
      code: "invalid_request",
      status: 400,
    });
    expect(new InvalidRequest("Wait.")).to.include({ retryAfterSeconds: null });
    expect(new InvalidRequest("Wait.")).not.to.have.property("cause");
  });

  it("names the location of every invalid value", () => {
    const wrong = { code: "wrong", message: "must be right" };
    const problem = invalidFields([
      { pointer: "/amount", ...wrong },
      { pointer: "", ...wrong },
      { parameter: "limit", ...wrong },
      { header: "If-Match", ...wrong },
    ]);
    expect(problem.message).to.contain(
      "/amount: must be right; the body: must be right; " +
        "the query parameter limit: must be right; the header If-Match: must be right",
    );
    const places = (one: Problem) => one.errors.map(({ code: _, message: __, ...place }) => place);
    expect(places(problem)).to.deep.equal([
      { pointer: "/amount" },
      { pointer: "" },
      { parameter: "limit" },
      { header: "If-Match" },
    ]);
    expect(places(invalidField("/amount", "wrong", "must be right"))).to.deep.equal([
      { pointer: "/amount" },
    ]);
    expect(places(invalidField({ header: "If-Match" }, "wrong", "is missing"))).to.deep.equal([
      { header: "If-Match" },
    ]);
  });
});

describe("an assertion", () => {
  it("throws a defect if its condition does not hold, and nothing otherwise", () => {
    expect(() => {
      assert(false, "sums agree");
    }).to.throw(Defect, "sums agree");
    expect(() => {
      assert(true, "sums agree");
    }).not.to.throw();
  });
});
