import { expect } from "chai";
import { allOperations } from "../../src/features/index.ts";
import { eachStore } from "../support/stores.ts";
import { openEstate, type Estate } from "./estate.ts";
import { callExample, exampleNames, exampleOf } from "./examples.ts";

describe("the examples", () => {
  it("are of operations that there are", () => {
    const names = allOperations.map(({ id }) => id);
    expect(exampleNames.filter((name) => !names.includes(name))).to.deep.equal([]);
  });
});

eachStore("a valid call", (store) => {
  let estate: Estate;
  const answered = new Set<string>();

  before(async function () {
    this.timeout(120_000);
    estate = await openEstate(store);
  });
  after(() => estate.stop());

  for (const operation of allOperations) {
    // A record that an answer does not fit is a 500 in tests.
    it(`of ${operation.id} is answered by its record`, async () => {
      const answer = await callExample(operation, estate, await exampleOf(operation, estate));
      expect(answer.status, answer.text).to.equal(operation.status);
      expect(answer.text === "", answer.text).to.equal(operation.record === null);
      answered.add(operation.id);
    });
  }

  it("was made of every operation", () => {
    const unanswered = allOperations.map(({ id }) => id).filter((id) => !answered.has(id));
    expect(unanswered, "add valid calls to test/api/examples.ts").to.deep.equal([]);
  });
});
