import { format } from "oxfmt";

/**
 * Returns a text as `npm run format` would write it.
 * @param name a file name, whose ending names the language
 * @throws Error if it does not parse
 */
export async function formatted(name: string, text: string, printWidth = 100): Promise<string> {
  const { code, errors } = await format(name, text, { printWidth });
  if (errors.length > 0) throw new Error(`${name}: ${errors.map((each) => each.message).join()}`);
  return code;
}
