import { expect } from "chai";
import { areas, filesAt, readExcuses, readSource } from "./areas.ts";
import { sampledFolders } from "./draw.ts";

describe("The excuses of mutants that survive", () => {
  it("name a source that mutation changes, text that stands in it, another text, and a reason", () => {
    const sources = [...areas.flatMap((area) => area.sources), ...sampledFolders].flatMap((path) =>
      filesAt(path, ".ts"),
    );
    for (const excuse of readExcuses()) {
      const { file, within, original, mutated, reason, ...rest } = excuse;
      expect(rest, file).to.deep.equal({});
      expect(sources).to.include(file);
      const source = readSource(file);
      expect(source, file).to.include(original);
      expect(source, file).to.include(within);
      expect(mutated, original).not.to.equal(original);
      expect(reason, original).to.match(/^[A-Z].{20,}\.$/);
    }
  });

  it("excuse each mutant once", () => {
    const keys = readExcuses().map(({ reason: _, ...key }) => JSON.stringify(key));
    expect(new Set(keys).size).to.equal(keys.length);
  });
});
