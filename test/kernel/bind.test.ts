import { expect } from "chai";
import { bind } from "../../src/kernel/bind.ts";

interface Deps {
  readonly prefix: string;
}

function greet({ prefix }: Deps, name: string, mark = "."): string {
  return `${prefix} ${name}${mark}`;
}

describe("bind", () => {
  it("gives each function the dependencies and the caller's arguments", () => {
    const service = bind({ prefix: "Hello" }, { greet, again: greet });
    expect(service.greet("Ada")).to.equal("Hello Ada.");
    expect(service.again("Ada", "!")).to.equal("Hello Ada!");
    expect(Object.keys(service)).to.deep.equal(["greet", "again"]);
  });

  it("makes functions that work without their object", () => {
    const { greet: bound } = bind({ prefix: "Hello" }, { greet });
    expect(["Ada", "Bob"].map((name) => bound(name))).to.deep.equal(["Hello Ada.", "Hello Bob."]);
  });
});
