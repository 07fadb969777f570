import type { Argument, Command as Program, Option } from "commander";
import type { ValueSource } from "../../http/declare/command.ts";
import { idPrefixes } from "../../kernel/id.ts";
import { declarationOf } from "../command-words.ts";

/** The values that an argument or a flag takes. */
export interface Takes {
  readonly sources: readonly ValueSource[];
  /** All values; null if they are not few. */
  readonly choices: readonly string[] | null;
  readonly isList: boolean;
  /** Whether it is the path of a file or a folder. */
  readonly isFile: boolean;
}

const namedSources: Readonly<Record<string, ValueSource>> = {
  network: "network",
  tokenSymbol: "token",
  token: "token",
};
const fileNames = ["file", "path"];

/** Returns what an argument or a flag takes: from its declaration or, without one, from its name and its placeholder. */
export function takesOf(parsed: Argument | Option): Takes {
  const declared = declarationOf(parsed);
  const placeholder = "flags" in parsed ? placeholderOf(parsed) : parsed.name();
  const name = "flags" in parsed ? parsed.attributeName() : parsed.name();
  // Settings list their choices as the placeholder.
  const listed = placeholder.split("|");
  const isListed = declared === undefined && listed.length > 1;
  return {
    sources: declared?.takes ?? sourcesOf(name, placeholder),
    choices: declared?.choices ?? (isListed ? listed : null),
    isList: declared?.isList ?? false,
    isFile: fileNames.includes(placeholder),
  };
}

/** Returns the option that a command or one of its parents has under a name such as `--json` or `-q`. */
export function optionNamed(command: Program, name: string): Option | null {
  for (let one: Program | null = command; one !== null; one = one.parent) {
    const found = one.options.find(({ long, short }) => long === name || short === name);
    if (found !== undefined) return found;
  }
  return null;
}

function placeholderOf({ flags }: Option): string {
  return /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? "";
}

function sourcesOf(name: string, placeholder: string): readonly ValueSource[] {
  if (placeholder === "id|name") return ["organization"];
  const kind = name.replace(/Id$/, "");
  if (kind !== name && Object.hasOwn(idPrefixes, kind)) return [kind as ValueSource];
  const named = namedSources[name];
  return named !== undefined && ["id", "symbol"].includes(placeholder) ? [named] : [];
}
