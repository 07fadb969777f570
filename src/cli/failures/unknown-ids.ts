import type { Argument, Command as Program, Option } from "commander";
import { defineProblem, Problem, type FieldError } from "../../kernel/errors.ts";
import type { IdKind } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";
import {
  articled,
  findKnown,
  kindOf,
  kindsOf,
  namesThatBegin,
  paymentsOfTransfer,
  similar,
  titleOf,
  type Known,
} from "../known/known-values.ts";
import { takesOf } from "../known/takes.ts";
import { findNamed } from "../organization.ts";
import { fieldOf, nameOf, wordOf } from "./words.ts";

/** The characters of a wrong id that a message repeats. */
const shownMax = 80;

/** A given value that should be the id of an object of the store. */
interface GivenId {
  readonly takenBy: Argument | Option;
  readonly kinds: readonly IdKind[];
  readonly text: string;
  /** A user is given by e-mail address. */
  readonly isEmail: boolean;
}

/**
 * Returns the error of a command, with sentences about each given id that is of another kind or not in the store, and
 * the ids and names that are similar. Other errors, and those of a store that cannot be read, remain as they are.
 */
export async function explainIds(
  error: unknown,
  command: Program,
  env: Readonly<Record<string, string | undefined>>,
): Promise<unknown> {
  const isAboutValues =
    error instanceof Problem && (error.status === 404 || error.code === "invalid_request");
  const ids = isAboutValues ? givenIds(command) : [];
  if (!isAboutValues || ids.length === 0) return error;
  const { dataDir, config, organization } = command.optsWithGlobals<Record<string, unknown>>();
  try {
    const { readKnown } = await import("../known/read-known.ts");
    const options = { mode: "cli", flags: { dataDir, config }, env } as const;
    const found = await readKnown(options, async (reader, setting) => {
      const named = typeof organization === "string" ? organization : setting;
      const owner = named === null ? null : await findNamed(reader, named);
      const sentences = new Map<Argument | Option, string>();
      for (const id of ids) {
        const sentence = await explain(reader, id, owner?.id ?? null);
        if (sentence !== null) sentences.set(id.takenBy, sentence);
      }
      return sentences;
    });
    return found === null || found.size === 0 ? error : withSentences(error, command, found);
  } catch {
    return error;
  }
}

function givenIds(command: Program): readonly GivenId[] {
  const values = [
    ...command.registeredArguments.map((one, index) => ({
      takenBy: one,
      given: command.processedArgs[index] as unknown,
    })),
    ...command.options.map((one) => ({
      takenBy: one,
      given: command.getOptionValue(one.attributeName()) as unknown,
    })),
  ];
  return values.flatMap(({ takenBy, given }) => {
    // An unknown organization has an error of its own.
    const { sources } = takesOf(takenBy);
    const isEmail = sources.includes("email");
    const kinds: IdKind[] = isEmail
      ? ["user"]
      : kindsOf(sources).filter((kind) => kind !== "organization");
    if (kinds.length === 0) return [];
    const texts = (Array.isArray(given) ? given : [given]) as unknown[];
    return texts
      .filter((text): text is string => typeof text === "string")
      .map((text) => ({ takenBy, kinds, text: text.split("=")[0] ?? "", isEmail }));
  });
}

async function explain(
  reader: Reader,
  { kinds, text, isEmail }: GivenId,
  organizationId: string | null,
): Promise<string | null> {
  const shown = JSON.stringify(text.slice(0, shownMax));
  const own = kindOf(text);
  if (own !== null && !kinds.includes(own)) {
    const sentence = `${shown} is the id of ${articled(own)}, not of ${kinds.map(articled).join(" or ")}.`;
    const isAllocated = own === "transfer" && kinds.includes("payment");
    const payments = isAllocated ? await paymentsOfTransfer(reader, text, organizationId) : [];
    return payments.length === 0 ? sentence : `${sentence} Its payments: ${payments.join(", ")}.`;
  }
  if (isEmail) {
    if ((await namesThatBegin(reader, "email", text, 1)).length > 0) return null;
    const near = await similar(reader, "user", text, null);
    const named = near.map(({ name, value }) => ({ value: name, description: value }));
    return `No user has the e-mail address ${shown}. ${didYouMean(named, "Check the spelling.")}`;
  }
  const near: Known[] = [];
  for (const kind of kinds) {
    const known = await findKnown(reader, kind, text);
    if (known !== null) {
      const isOther = organizationId !== null && known.owner !== organizationId;
      return isOther && known.owner !== null
        ? `The ${titleOf(kind)} ${shown} belongs to another organization: ${known.owner}.`
        : null;
    }
    near.push(...(await similar(reader, kind, text, organizationId)));
  }
  const names = kinds.includes("invoice") ? "id or the externalId" : "id";
  return `No ${kinds.map(titleOf).join(" or ")} has the ${names} ${shown}. ${didYouMean(near, "Check it; ids are case-sensitive.")}`;
}

function didYouMean(near: readonly Known[], otherwise: string): string {
  const named = near.map(({ value, description }) =>
    description === "" ? value : `${value} (${description})`,
  );
  if (named.length === 0) return otherwise;
  if (named.length === 1) return `Did you mean ${named.join("")}?`;
  return `Did you mean one of these?\n${named.map((line) => `  ${line}`).join("\n")}`;
}

function withSentences(
  problem: Problem,
  command: Program,
  sentences: ReadonlyMap<Argument | Option, string>,
): Problem {
  const { code, status, title, errors } = problem;
  const Explained = defineProblem({ code, status, title });
  if (status === 404) return new Explained([...sentences.values()].join("\n"), { cause: problem });
  const explained = errors.map((error): FieldError => {
    const word = wordOf(command, fieldOf(error));
    const found = [...sentences].find(([takenBy]) => nameOf(takenBy) === word);
    return found === undefined ? error : { ...error, message: `${error.message}. ${found[1]}` };
  });
  return new Explained(problem.message, { errors: explained, cause: problem });
}
