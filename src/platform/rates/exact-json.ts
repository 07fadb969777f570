/** A string or a number; strings are matched too, so that digits inside them are left alone. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*/g;

/**
 * Parses JSON with numbers as their literal text, because a float would round them: `{"p": 1.10}` gives `{ p: "1.10"
 * }`.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  // Validates the text: the pattern is reliable only for valid JSON.
  JSON.parse(text);
  return JSON.parse(text.replace(token, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}
