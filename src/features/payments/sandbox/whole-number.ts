/** Parses a number of blocks or seconds in an argument. Throws InvalidRequest. */
export async function wholeNumber(name: string, text: string): Promise<number> {
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidRequest(`The number of ${name} must be a whole number from 1 to 999,999,999.`);
}
