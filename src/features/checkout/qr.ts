import QRCode from "qrcode";

/** The light edge that readers need, in modules. */
const quietZoneModules = 4;
/** Drawing takes milliseconds, and a checkout's code stays the same while many look at it. */
const rememberedMax = 500;

const drawn = new Map<string, Promise<string>>();

/** The code as an SVG picture, dark on white whatever the page's colours are. */
export function drawCode(text: string): Promise<string> {
  const known = drawn.get(text);
  if (known !== undefined) return known;
  // The text is never upper-cased to save space: base58 addresses would become others.
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
