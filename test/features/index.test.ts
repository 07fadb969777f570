import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const source = fileURLToPath(new URL("../../src/features", import.meta.url));
const commandLine = fileURLToPath(new URL("../../src/cli/features.ts", import.meta.url));
const folders = readdirSync(source, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The names of exported lists in a feature's files, such as `walletOperations` for the ending `Operations`. */
function exportedLists(folder: string, ending: string): string[] {
  const files = readdirSync(`${source}/${folder}`, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(`${source}/${folder}/${file}`, "utf8").matchAll(
        new RegExp(`^export (?:const|function) (\\w+${ending})\\b`, "gm"),
      ),
    ])
    .map(([, name = ""]) => name);
}

describe("the modules of the features", () => {
  const index = readFileSync(`${source}/index.ts`, "utf8");
  /** The file of the module of each feature. */
  const files = new Map(
    [...index.matchAll(/from "\.\/([\w-]+)\/(\w+\.ts)"/g)].map(([, name, file]) => [name, file]),
  );

  it("are all listed in src/features/index.ts", () => {
    expect([...files.keys()]).to.have.members(folders);
  });

  it("contain every list of operations, pages, checks and metrics that their feature declares", () => {
    for (const folder of folders) {
      const file = files.get(folder) ?? "";
      const module = readFileSync(`${source}/${folder}/${file}`, "utf8");
      for (const name of exportedLists(folder, "(?:Operations|Pages|Checks|Metrics)")) {
        expect(module, `${folder}/${file}`).to.match(new RegExp(`\\b${name}\\b`));
      }
    }
  });

  it("have their commands listed on the command line", () => {
    const listed = readFileSync(commandLine, "utf8");
    const names = folders.flatMap((folder) => exportedLists(folder, "Commands"));
    for (const name of names) expect(listed).to.match(new RegExp(`\\b${name}\\b`));
  });
});
