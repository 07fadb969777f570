/**
 * A merchant's accent color on the page. Buttons have the color itself, with black or white letters. Text has a shade of
 * it: the color is mixed with black on light ground, or with white on dark ground, until it has the contrast of WCAG 2.2
 * AA (1.4.3).
 */

/** Red, green and blue, each from 0 to 255. */
type Color = readonly [number, number, number];

const black: Color = [0, 0, 0];
const white: Color = [255, 255, 255];
/** Of the grounds on which text stands, those with the least contrast to it: `--soft` in colors.css. */
const grounds = { light: readColor("#eff2f0"), dark: readColor("#252d2a") } as const;
const contrastMin = 4.5;
/** Steps of the mixture. The last one is black or white, which always has the contrast. */
const steps = 50;

/** Returns the declarations that set an accent color such as `#0b5f4e`, in front of the style sheet. */
export function accentStyle(accent: string): string {
  const color = readColor(accent);
  const onAccent = contrast(color, white) >= contrastMin ? white : black;
  const values = {
    accent: color,
    "on-accent": onAccent,
    link: shade(color, black, grounds.light),
    "link-dark": shade(color, white, grounds.dark),
  };
  const lines = Object.entries(values).map(([name, value]) => `  --own-${name}: ${write(value)};`);
  return [":root {", ...lines, "}", ""].join("\n");
}

/** Mixes a color with another one as far as needed to be read on a ground. */
function shade(color: Color, toward: Color, ground: Color): Color {
  for (let step = 0; step < steps; step += 1) {
    const mixed = mix(color, toward, step / steps);
    if (contrast(mixed, ground) >= contrastMin) return mixed;
  }
  return toward;
}

function mix(one: Color, other: Color, share: number): Color {
  const part = (place: 0 | 1 | 2) => Math.round(one[place] + (other[place] - one[place]) * share);
  return [part(0), part(1), part(2)];
}

/** Contrast ratio of two colors, from 1 to 21 (WCAG 2.2). */
function contrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance, from 0 to 1 (WCAG 2.2). */
function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function readColor(hex: string): Color {
  const part = (from: number) => Number.parseInt(hex.slice(from, from + 2), 16);
  return [part(1), part(3), part(5)];
}

function write(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
