import ts from "typescript";
import { rewrite } from "./rewrite.ts";

/** One small change of a source file that a test should notice. */
export interface Mutant {
  readonly number: number;
  /** The path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The name of the nearest function or constant around the change; empty at the top of the file. */
  readonly within: string;
  readonly original: string;
  readonly mutated: string;
  /** Whether the change is outside of any function, so that it takes effect when the module is loaded. */
  readonly isStatic: boolean;
}

export interface Instrumented {
  /** The source with every mutant in it, each chosen by its number: `__mutant(7) ? mutated : original`. */
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

/** The operators that replace an operator. */
const replacements: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [ts.SyntaxKind.LessThanToken, ["<=", ">="]],
  [ts.SyntaxKind.LessThanEqualsToken, ["<", ">"]],
  [ts.SyntaxKind.GreaterThanToken, [">=", "<="]],
  [ts.SyntaxKind.GreaterThanEqualsToken, [">", "<"]],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ["!=="]],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ["==="]],
  [ts.SyntaxKind.PlusToken, ["-"]],
  [ts.SyntaxKind.MinusToken, ["+"]],
  [ts.SyntaxKind.AsteriskToken, ["/"]],
  [ts.SyntaxKind.SlashToken, ["*"]],
  [ts.SyntaxKind.PercentToken, ["*"]],
  [ts.SyntaxKind.AmpersandAmpersandToken, ["||"]],
  [ts.SyntaxKind.BarBarToken, ["&&"]],
]);

const oppositeCalls: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["some", "every"],
  ["every", "some"],
]);

/** Names of functions that answer yes or no: their calls are negated wherever they stand. */
const predicateName =
  /^((is|has|can|may|allows|needs)([A-Z].*)?|includes|startsWith|endsWith|test)$/;

/** Calls whose arguments are words for people: changing them changes none of the rules. */
const wordingCalls = /^(invalidField|invalidFields|[A-Z]\w*(Error|Defect|Problem))$|^Defect$/;

/**
 * Assertions state what holds for every input, so that no test can tell one from its absence. Descriptions of fields are
 * words of documents.
 */
const unchangedCalls: ReadonlySet<string> = new Set(["assert", "describeFields"]);

/**
 * Finds the mutants of a source file and writes them into it. Comparisons, arithmetic, logic, conditions, filters,
 * answers of yes or no, and statements that call or assign are changed. Texts are not, SQL among them, nor what only
 * chooses the words of an error or of the log, nor assertions.
 */
export function instrument(file: string, source: string, firstNumber: number): Instrumented {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];

  function add(node: ts.Node, mutated: string): string {
    const number = firstNumber + mutants.length;
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
    const isStatic = ts.findAncestor(node, ts.isFunctionLike) === undefined;
    const original = node.getText(tree);
    const within = nameAround(node);
    mutants.push({ number, file, line: line + 1, within, original, mutated, isStatic });
    return `__mutant(${String(number)})`;
  }

  function change(node: ts.Node, inner: string): string {
    let text = inner;
    for (const mutated of replacementsOf(node, tree)) {
      text = `(${add(node, mutated)} ? (${mutated}) : ${text})`;
    }
    return isRemovable(node) ? `{ if (!${add(node, ";")}) { ${text} } }` : text;
  }

  const rewritten = rewrite(tree, tree, isWording, change);
  const text = source.slice(0, tree.getStart(tree)) + rewritten + source.slice(tree.end);
  return { text, mutants };
}

/** The line of a report about a mutant that no test noticed. */
export function describeSurvivor({ file, line, within, original, mutated }: Mutant): string {
  const flat = (text: string) => text.replace(/\s+/g, " ");
  return `${file}:${String(line)} survives, in ${JSON.stringify(within)}:\n  - ${flat(original)}\n  + ${flat(mutated)}`;
}

function replacementsOf(node: ts.Node, tree: ts.SourceFile): readonly string[] {
  const text = node.getText(tree);
  if (ts.isBinaryExpression(node)) {
    const { left, operatorToken, right } = node;
    // Texts are joined, not added.
    if (operatorToken.kind === ts.SyntaxKind.PlusToken && [left, right].some(isText)) return [];
    const others = replacements.get(operatorToken.kind) ?? [];
    return (hasIdleBoundary(node) ? others.slice(1) : others).map(
      (other) => `(${left.getText(tree)}) ${other} (${right.getText(tree)})`,
    );
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [node.operand.getText(tree)];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return isAnswer(node) ? ["false"] : [];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return isAnswer(node) ? ["true"] : [];
  if (ts.isCallExpression(node)) {
    const name = calledName(node);
    if (ts.isPropertyAccessExpression(node.expression) && !node.expression.questionDotToken) {
      const receiver = node.expression.expression.getText(tree);
      const opposite = oppositeCalls.get(name);
      if (name === "filter") return [receiver];
      if (opposite !== undefined) {
        return [`${receiver}.${opposite}${text.slice(node.expression.getText(tree).length)}`];
      }
    }
    if (predicateName.test(name) && !isNegated(node)) return [`!${text}`];
  }
  return isCondition(node) && !isNegated(node) ? [`!(${text})`] : [];
}

/**
 * Whether it makes no difference on which side of a comparison equal values are: in the order of a sort, in
 * `x < 0 ? -x : x`, and in `x < y ? x : y` and the like.
 */
function hasIdleBoundary(node: ts.BinaryExpression): boolean {
  if ((replacements.get(node.operatorToken.kind) ?? []).length < 2) return false;
  const { parent } = node;
  if (!ts.isConditionalExpression(parent)) return false;
  const sides = [parent.whenTrue, parent.whenFalse].map((side) => side.getText());
  const [left, right] = [node.left.getText(), node.right.getText()];
  return (
    sides[0] === `-${sides[1] ?? ""}` ||
    sides.toSorted().join() === "-1,1" ||
    (sides[0] === `${left} - ${right}` && sides[1] === `${right} - ${left}`) ||
    (sides.includes(right) && (sides.includes(left) || sides.includes(`-${left}`)))
  );
}

/** Whether a value, other than a comparison or logic, decides about a branch. */
function isCondition(node: ts.Node): boolean {
  if (!ts.isExpression(node) || ts.isBinaryExpression(node)) return false;
  if (ts.isPrefixUnaryExpression(node) || ts.isParenthesizedExpression(node)) return false;
  const { parent } = node;
  return (
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node) ||
    (ts.isBinaryExpression(parent) &&
      [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(
        parent.operatorToken.kind,
      ))
  );
}

/** Whether a `!` stands before it, whose removal is the same change. */
function isNegated({ parent }: ts.Node): boolean {
  return ts.isPrefixUnaryExpression(parent) && parent.operator === ts.SyntaxKind.ExclamationToken;
}

function isAnswer({ parent }: ts.Node): boolean {
  return ts.isReturnStatement(parent) || ts.isArrowFunction(parent);
}

function isRemovable(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node) || isWording(node.expression)) return false;
  const { expression } = node;
  const plain = ts.isAwaitExpression(expression) ? expression.expression : expression;
  if (ts.isCallExpression(plain)) return plain.expression.kind !== ts.SyntaxKind.SuperKeyword;
  return (
    ts.isBinaryExpression(plain) &&
    plain.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    plain.operatorToken.kind <= ts.SyntaxKind.LastAssignment
  );
}

/** Whether a node is an assertion, or is there only for the words of an error or of the log. */
function isWording(node: ts.Node): boolean {
  if (ts.isThrowStatement(node)) return true;
  if (ts.isCallExpression(node) && unchangedCalls.has(calledName(node))) return true;
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    return (
      ts.isCallExpression(expression) && /(^|\.)log(ger)?\b/.test(expression.expression.getText())
    );
  }
  const { parent } = node as { readonly parent?: ts.Node };
  if (parent === undefined || !(ts.isCallExpression(parent) || ts.isNewExpression(parent)))
    return false;
  if (!wordingCalls.test(calledName(parent))) return false;
  return node !== parent.expression;
}

function calledName({ expression }: ts.CallExpression | ts.NewExpression): string {
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text;
  return ts.isIdentifier(expression) ? expression.text : "";
}

/** The name of the nearest function or constant around a node; empty at the top of the file. */
export function nameAround(node: ts.Node): string {
  const named = ts.findAncestor(
    node,
    (each) =>
      ts.isFunctionDeclaration(each) ||
      ts.isMethodDeclaration(each) ||
      ts.isClassDeclaration(each) ||
      (ts.isVariableDeclaration(each) &&
        (ts.isFunctionLike(each.initializer) || ts.isSourceFile(each.parent.parent.parent))),
  ) as ts.NamedDeclaration | undefined;
  return named?.name?.getText() ?? "";
}

function isText(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
  if (ts.isParenthesizedExpression(node)) return isText(node.expression);
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}
