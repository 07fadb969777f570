import ts from "typescript";
import { nameAround } from "../mutation/mutants.ts";
import { rewrite } from "../mutation/rewrite.ts";

/** One way that a program can go at a place of a source file. */
export interface Branch {
  readonly number: number;
  /** The path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The name of the nearest function or constant around it; empty at the top of the file. */
  readonly within: string;
  /** The condition, the left side of `??`, the default, the case or `catch`. */
  readonly text: string;
  readonly way: Way;
}

export type Way = "true" | "false" | "null" | "not null" | "used" | "caught";

export interface Instrumented {
  /** The source with a note at each branch: `__way(7, condition)` takes branch 7 if it is true, and 8 if not. */
  readonly text: string;
  readonly branches: readonly Branch[];
}

const logicalTokens: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
];
const assigningTokens: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
];

/** In the first line, so that all lines keep their numbers. Sources also run where nothing records: in a browser. */
const header =
  "const __way = globalThis.__way ?? ((_, value) => value), __wayOfNull = globalThis.__wayOfNull ?? __way, " +
  "__taken = globalThis.__taken ?? (() => {}); ";

/** Finds the branches of a source file and writes a note at each into it. */
export function instrument(file: string, source: string, firstNumber: number): Instrumented {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const branches: Branch[] = [];

  /** Adds the ways of a place, and returns the number of the first. */
  function add(node: ts.Node, ...ways: readonly Way[]): string {
    const first = firstNumber + branches.length;
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    const place = { file, line, within: nameAround(node), text: textOf(node) };
    for (const [index, way] of ways.entries())
      branches.push({ number: first + index, ...place, way });
    return String(first);
  }

  function mark(node: ts.Node, text: string): string {
    if (isCondition(node)) return `__way(${add(node, "true", "false")}, ${text})`;
    if (isLeftOfNullish(node)) return `__wayOfNull(${add(node, "null", "not null")}, ${text})`;
    if (isDefault(node)) return `(__taken(${add(node, "used")}), ${text})`;
    if (isStartOfCase(node)) return `__taken(${add(node, "used")}); ${text}`;
    if (ts.isBlock(node) && ts.isCatchClause(node.parent)) {
      return `{ __taken(${add(node, "caught")}); ${text.slice(1)}`;
    }
    return text;
  }

  const start = tree.getStart(tree);
  const rewritten = rewrite(tree, tree, isAssertion, mark);
  const text = source.slice(0, start) + header + rewritten + source.slice(tree.end);
  return { text, branches };
}

function textOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isCatchClause(parent)) return "catch";
  if (ts.isCaseClause(parent)) return `case ${parent.expression.getText()}`;
  return ts.isDefaultClause(parent) ? "default" : node.getText().replace(/\s+/g, " ");
}

/** Whether it decides about an `if` or a `?:`, or is on the left of `&&` or `||`. */
function isCondition(node: ts.Node): boolean {
  const { parent } = node as { readonly parent?: ts.Node };
  if (parent === undefined) return false;
  if (ts.isIfStatement(parent)) return parent.expression === node;
  if (ts.isConditionalExpression(parent)) return parent.condition === node;
  return (
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    logicalTokens.includes(parent.operatorToken.kind)
  );
}

function isLeftOfNullish(node: ts.Node): boolean {
  const { parent } = node as { readonly parent?: ts.Node };
  return (
    parent !== undefined &&
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
  );
}

/** Whether it is the default of a parameter or of a part of a value, or what `??=` and the like assign. */
function isDefault(node: ts.Node): boolean {
  const { parent } = node as { readonly parent?: ts.Node };
  if (parent === undefined) return false;
  if (ts.isParameter(parent) || ts.isBindingElement(parent)) return parent.initializer === node;
  return (
    ts.isBinaryExpression(parent) &&
    parent.right === node &&
    assigningTokens.includes(parent.operatorToken.kind)
  );
}

function isStartOfCase(node: ts.Node): boolean {
  const { parent } = node as { readonly parent?: ts.Node };
  return parent !== undefined && ts.isCaseOrDefaultClause(parent) && parent.statements[0] === node;
}

function isAssertion(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === "assert"
  );
}
