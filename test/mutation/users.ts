import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesAt, root } from "./areas.ts";

/** `import { one, two as three } from "./file.ts"`, and the same with `export`; types are erased, so they are left out. */
const importForm = /^(import|export) \{([^}]*)\} from "(\.[^"]+\.ts)";/gm;
const dynamicForm = /\bimport\("(\.[^"]+\.ts)"\)/g;

/** Names that a file imports from another one, or passes on. */
interface Import {
  /** The path from the root. */
  readonly from: string;
  readonly names: readonly string[];
  readonly isPassedOn: boolean;
}

const imports = new Map<string, readonly Import[]>();

function importsOf(file: string): readonly Import[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
  const found = [...text.matchAll(importForm)].map(([, word, names = "", path = ""]): Import => ({
    from: join(dirname(file), path),
    names: names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "))
      .map((name) => name.split(" as ")[0] ?? name),
    isPassedOn: word === "export",
  }));
  const dynamic = [...text.matchAll(dynamicForm)].map(([, path = ""]): Import => ({
    from: join(dirname(file), path),
    names: [],
    isPassedOn: false,
  }));
  imports.set(file, [...found, ...dynamic]);
  return imports.get(file) ?? [];
}

/** Returns the file that declares a name which another file exports. */
function declarerOf(file: string, name: string): string {
  const passedOn = importsOf(file).find((one) => one.isPassedOn && one.names.includes(name));
  return passedOn === undefined ? file : declarerOf(passedOn.from, name);
}

/** Returns the files whose exports a file uses by name, those behind an index.ts among them. */
function usedBy(file: string): ReadonlySet<string> {
  return new Set(
    importsOf(file)
      .filter(({ isPassedOn }) => !isPassedOn)
      .flatMap(({ from, names }) => [
        ...names.map((name) => declarerOf(from, name)),
        ...(names.length === 0 ? [from] : []),
      ]),
  );
}

/** Returns the sources outside of an area that use one of its sources by name. */
export function usersOf(sources: readonly string[], area: string): readonly string[] {
  return filesAt("src/features", ".ts").filter(
    (file) => !file.startsWith(`${area}/`) && sources.some((source) => usedBy(file).has(source)),
  );
}

/** Whether a test uses one of the sources by name, itself or in its fixtures. */
export function testsAny(test: string, sources: readonly string[]): boolean {
  const reached = new Set([test]);
  for (const file of reached) {
    for (const used of usedBy(file)) {
      if (sources.includes(used)) return true;
      if (used.startsWith("test/")) reached.add(used);
    }
  }
  return false;
}
