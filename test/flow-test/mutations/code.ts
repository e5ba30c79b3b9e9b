/** A change of code. */
export interface Change {
  readonly kind: string;
  readonly text: string;
  readonly code: string;
}

/** Text and comments of JavaScript or JSONata, which are no code; patterns are seldom enough to be left out. */
const NO_CODE =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*|\/\*[^]*?\*\/|`(?:\\.|[^`\\$]|\$(?!\{))*`|\/(?![ /*])(?:\\.|[^/\\\n])+\/[a-z]*/g;

/** The code with blanks in place of text, so that places stay the same. */
const masked = (code: string): string => code.replace(NO_CODE, (text) => ' '.repeat(text.length));

const OPERATORS: Readonly<Record<string, string>> = {
  ...{ '>': '>=', '<': '<=', '>=': '>', '<=': '<', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&' },
};

/** Not the digits of a name. */
const NUMBER = /(?<![\w.$])\d+(?:\.\d+)?(?![\w.])/g;

/**
 * Changes of a function or an expression: a number, a comparison, the name of a property. Of a large number, which is a
 * time in ms, one more could not be seen: it is ten times as large.
 */
export function changesOfCode(code: string): Change[] {
  const plain = masked(code);
  const at = (index: number, length: number, by: string): string =>
    code.slice(0, index) + by + code.slice(index + length);
  const line = (index: number): string => {
    const begin = plain.lastIndexOf('\n', index) + 1;
    const end = code.indexOf('\n', index);
    return code
      .slice(begin, end === -1 ? undefined : end)
      .trim()
      .slice(0, 80);
  };
  const changes: Change[] = [];
  const change = (kind: string, index: number, found: string, by: string): void => {
    const text = `${by.trim()} stands for ${found.trim()} in: ${line(index)}`;
    changes.push({ kind, text, code: at(index, found.length, by) });
  };
  for (const { index, 0: found } of plain.matchAll(NUMBER)) {
    const value = Number(found);
    change('threshold', index, found, String(value < 100 ? value + 1 : value * 10));
  }
  for (const { index, 1: found = '' } of plain.matchAll(/(?<= )(>=|<=|>|<|===|!==|&&|\|\|)(?= )/g))
    change('comparison', index, found, OPERATORS[found] ?? found);
  for (const { index, 0: found } of plain.matchAll(
    /(?<![\w$.])(?:msg|payload|error|body|record|upload)\??\.[a-z]\w*/g,
  ))
    change('property', index, found, `${found}X`);
  return changes;
}
