import type { Terminal } from "./terminal.ts";

/** Width of the light border that QR readers need, in modules. */
const quietZoneModules = 4;
/** Upper and lower module of a character cell, both light, the upper one light, and so on. */
const blocks = { both: "█", upper: "▀", lower: "▄", none: " " };
/** Black on white, so that the code is dark on light whatever the terminal's colors are. */
const [dark, plain] = ["\u001b[97;40m", "\u001b[0m"];

/**
 * Draws a QR code with two modules per character, for people at a terminal; prints nothing where the output is not a
 * terminal or too narrow. Light modules are drawn and dark ones left out, which fits terminals with a dark background;
 * with colors, the code is white on black everywhere.
 */
export async function printCode(terminal: Terminal, text: string): Promise<void> {
  const { stdout } = terminal.surroundings;
  if (terminal.form !== "people" || stdout.isTTY !== true) return;
  const { default: encodeQR } = await import("qr");
  const rows = encodeQR(text, "raw", { ecc: "low", border: quietZoneModules });
  if (rows.length > (terminal.width ?? Infinity)) return;
  const lines: string[] = [];
  for (let row = 0; row < rows.length; row += 2) {
    const lower = rows[row + 1];
    const line = (rows[row] ?? []).map((isDark, column) =>
      cell(!isDark, lower !== undefined && lower[column] !== true),
    );
    lines.push(terminal.hasColor ? `${dark}${line.join("")}${plain}` : line.join(""));
  }
  terminal.data(`\n${lines.join("\n")}`);
}

function cell(isUpperLight: boolean, isLowerLight: boolean): string {
  if (isUpperLight) return isLowerLight ? blocks.both : blocks.upper;
  return isLowerLight ? blocks.lower : blocks.none;
}
