import { RegExpParser, type AST } from "@eslint-community/regexpp";

/** A part of a hostile text, which is repeated between a beginning and an end. */
export interface HostileForm {
  readonly beginning: string;
  readonly repeated: string;
  readonly end: string;
}

/** Characters that classes are tried with, in this order, together with those that the expression names. */
const usualCharacters = Array.from('aA0_-.: /@"\\\t\u00e9\u0301');
/** How many characters of a class, and texts of an alternative, are used. */
const variantsMax = 3;
/** The most characters of an expression whose combinations of three are tried. */
const combinedMax = 3;
/** A quantifier of fewer repetitions adds a constant factor only. */
const repetitionsMin = 50;
/** Endings at which a match fails after the repetition: none, a character of no class, and a line that continues. */
const ends = ["", "\0", "\n\0"];

/**
 * Returns texts on which a backtracking match of the expression may take more than linear time: each repeats what a
 * quantifier repeats, what leads to it, or a combination of the expression's own characters.
 */
export function hostileForms({ source, flags }: RegExp): HostileForm[] {
  const isUnicode = flags.includes("u");
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: isUnicode,
    unicodeSets: flags.includes("v"),
  });
  const own = ownCharacters(pattern);
  const characters = [...new Set([...own, ...usualCharacters])];
  const texts = textsOf(characters, flags);
  const pairs: (readonly [beginning: string, repeated: string])[] = [];
  for (const quantifier of quantifiersOf(pattern)) {
    const before = textBefore(quantifier, texts);
    for (const text of texts(quantifier.element)) {
      pairs.push([before, text], ["", before + text], [before, text + text.slice(0, 1)]);
    }
  }
  if (pairs.length > 0) {
    const few = [...new Set([...own, "a"])].slice(0, combinedMax);
    for (const combined of combinations(few)) pairs.push(["", combined]);
  }
  const different = new Map(pairs.map((pair) => [pair.join("\0"), pair]));
  return [...different.values()]
    .filter(([, repeated]) => repeated !== "")
    .flatMap(([beginning, repeated]) => ends.map((end) => ({ beginning, repeated, end })));
}

/** Returns the text of a form with about this many characters. */
export function textOf({ beginning, repeated, end }: HostileForm, length: number): string {
  return beginning + repeated.repeat(Math.ceil(length / repeated.length)) + end;
}

type Texts = (node: AST.Node) => readonly string[];

/** Returns a function that gives a few texts which a part of an expression matches. */
function textsOf(characters: readonly string[], flags: string): Texts {
  const unicode = flags.replaceAll(/[^iuvs]/g, "");
  const texts: Texts = (node) => {
    switch (node.type) {
      case "Character":
        return [String.fromCodePoint(node.value)];
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass": {
        const one = new RegExp(`^${node.raw}$`, unicode);
        return characters.filter((character) => one.test(character)).slice(0, variantsMax);
      }
      case "Quantifier":
        return texts(node.element).map((text) => text.repeat(Math.max(1, Math.min(node.min, 64))));
      case "Group":
      case "CapturingGroup":
        return node.alternatives.flatMap(texts).slice(0, 2 * variantsMax);
      case "Alternative": {
        const parts = node.elements.map(texts);
        return Array.from({ length: variantsMax }, (_, variant) =>
          parts.map((each) => each[variant % each.length] ?? "").join(""),
        );
      }
      default:
        return [""];
    }
  };
  return texts;
}

/** Returns a text that leads to a part of an expression from its beginning. */
function textBefore(node: AST.Node, texts: Texts): string {
  const { parent } = node;
  if (parent === null) return "";
  if (parent.type !== "Alternative") return textBefore(parent, texts);
  const place = parent.elements.indexOf(node as AST.Element);
  const before = parent.elements.slice(0, place).map((each) => texts(each)[0] ?? "");
  return textBefore(parent, texts) + before.join("");
}

function quantifiersOf(node: AST.Node): AST.Quantifier[] {
  const inner = childrenOf(node).flatMap(quantifiersOf);
  return node.type === "Quantifier" && node.max >= repetitionsMin ? [node, ...inner] : inner;
}

/** Returns the characters that an expression names, outside and inside of classes. */
function ownCharacters(node: AST.Node): string[] {
  if (node.type === "Character") return [String.fromCodePoint(node.value)];
  return [...new Set(childrenOf(node).flatMap(ownCharacters))];
}

function childrenOf(node: AST.Node): readonly AST.Node[] {
  switch (node.type) {
    case "Pattern":
    case "Group":
    case "CapturingGroup":
      return node.alternatives;
    case "Alternative":
    case "CharacterClass":
      return node.elements;
    case "Assertion":
      return "alternatives" in node ? node.alternatives : [];
    case "Quantifier":
      return [node.element];
    case "CharacterClassRange":
      return [node.min, node.max];
    default:
      return [];
  }
}

/** Returns all texts of one, two and three of the characters. */
function combinations(characters: readonly string[]): string[] {
  const longer = (texts: readonly string[]) =>
    texts.flatMap((text) => characters.map((character) => text + character));
  const twos = longer(characters);
  return [...characters, ...twos, ...longer(twos)];
}
