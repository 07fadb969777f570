import { expect } from "chai";
import {
  accentStyle,
  findAsset,
  styleSheetFor,
} from "../../../src/features/checkout/page/assets.ts";

type Colors = Readonly<Record<string, string>>;

describe("the colors of a checkout", () => {
  let schemes: { readonly light: Colors; readonly dark: Colors };

  before(async () => {
    const css = String((await findAsset(styleSheetFor(null)))?.body);
    const [light = "", dark = ""] = Array.from(
      css.matchAll(/:root \{([^}]*)\}/g),
      ([, body]) => body,
    );
    schemes = { light: colorsIn(light), dark: colorsIn(dark) };
  });

  for (const scheme of ["light", "dark"] as const) {
    it(`have the contrast of WCAG 2.2 AA in ${scheme}`, () => {
      const colors = schemes[scheme];
      const contrastOf = (one: string, other: string): number =>
        contrast(colors[one] ?? "", colors[other] ?? "");
      for (const ground of ["ground", "card", "soft"]) {
        for (const ink of ["text", "quiet", "link", "careful"]) {
          expect(contrastOf(ink, ground), `${ink} on ${ground}`).to.be.at.least(4.5);
        }
        for (const mark of ["edge", "focus", "asking", "working", "done", "careful", "over"]) {
          expect(contrastOf(mark, ground), `${mark} on ${ground}`).to.be.at.least(3);
        }
      }
      expect(contrastOf("on-accent", "accent")).to.be.at.least(4.5);
      expect(contrastOf("ribbon-text", "ribbon")).to.be.at.least(4.5);
    });
  }

  it("have it for every accent color, on all grounds", () => {
    const parts = ["00", "1b", "40", "77", "80", "c0", "ee", "ff"];
    const accents = parts.flatMap((red) =>
      parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
    );
    for (const accent of accents) {
      const own = colorsIn(accentStyle(accent));
      expect(own["own-accent"]).to.equal(accent);
      expect(contrast(own["own-on-accent"] ?? "", accent), accent).to.be.at.least(4.5);
      for (const ground of ["ground", "card", "soft"]) {
        for (const [link, colors] of [
          ["own-link", schemes.light],
          ["own-link-dark", schemes.dark],
        ] as const) {
          const found = contrast(own[link] ?? "", colors[ground] ?? "");
          expect(found, `${link} of ${accent} on ${ground}`).to.be.at.least(4.5);
        }
      }
    }
  });

  it("keep an accent color that can be read as it is", () => {
    const own = colorsIn(accentStyle("#7a1f5c"));
    expect(own).to.include({ "own-link": "#7a1f5c", "own-on-accent": "#ffffff" });
    expect(colorsIn(accentStyle("#ffd400"))).to.include({
      "own-link-dark": "#ffd400",
      "own-on-accent": "#000000",
    });
  });

  it("are in style sheets that are neither kept nor compressed in advance, because there are millions", async () => {
    const usual = await findAsset(styleSheetFor(null));
    const own = await findAsset(styleSheetFor("#7a1f5c"));
    expect(own?.forms).to.deep.equal({});
    for (let color = 0; color < 300; color += 1) {
      await findAsset(styleSheetFor(`#${color.toString(16).padStart(6, "0")}`));
    }
    expect(await findAsset(styleSheetFor("#7a1f5c"))).not.to.equal(own);
    expect(await findAsset(styleSheetFor(null)), "the fixed file stays").to.equal(usual);
  });

  it("are in a style sheet whose name contains the accent color, and in no other", async () => {
    const name = styleSheetFor("#7a1f5c");
    expect(String((await findAsset(name))?.body)).to.match(/^:root \{\n {2}--own-accent: #7a1f5c;/);
    for (const other of ["7A1F5C", "7a1f5", "7a1f5c;}", "red", "7a1f5c.7a1f5c"]) {
      expect(await findAsset(name.replace("7a1f5c", other)), other).to.equal(null);
    }
    expect(await findAsset(name.replace("checkout.", "checkout.0")), "of an update").to.equal(null);
  });
});

/** The colors that a rule declares, with those that stand where a merchant has no own ones. */
function colorsIn(rule: string): Colors {
  const declared = rule.matchAll(/--([a-z-]+): (?:var\([^,]*, )?(#[0-9a-f]{6})/g);
  return Object.fromEntries(Array.from(declared, ([, name = "", hex = ""]) => [name, hex]));
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((place) => {
    const part = Number.parseInt(hex.slice(place, place + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
