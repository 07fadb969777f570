import QRCode from "qrcode";

/** Width of the light border that QR readers need, in modules. */
const quietZoneModules = 4;
/** Number of cached codes. Drawing takes milliseconds, and many requests show the same code. */
const rememberedMax = 500;

const drawn = new Map<string, Promise<string>>();

/** Draws the code as SVG, dark on white regardless of the page's colors. */
export function drawCode(text: string): Promise<string> {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  // Do not convert the text to upper case to save space: base58 addresses are case-sensitive.
  const drawing = QRCode.toString(text, {
    type: "svg",
    errorCorrectionLevel: "M",
    margin: quietZoneModules,
    color: { dark: "#000000", light: "#ffffff" },
  });
  for (const oldest of drawn.keys()) {
    if (drawn.size < rememberedMax) break;
    drawn.delete(oldest);
  }
  drawn.set(text, drawing);
  return drawing;
}
