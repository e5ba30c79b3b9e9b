import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from '@typescript/typescript6';
import { repository } from '../tooling/repository';

const ENTRIES = ['dist/src/index.d.ts', 'dist/src/simulator/index.d.ts'];
/** How many names the client may export for everyday work. */
const MOST = 40;

/** The words of all code on the pages about the client and the simulator. */
const named = new Set(
  [
    ...['client.md', 'simulator.md']
      .map((name) => readFileSync(join(repository, 'docs', 'inside', name), 'utf8'))
      .join('\n')
      .matchAll(/```js\n[^]*?```|`[^`\n]+`/g),
  ]
    .flatMap(([code]) => code.match(/[\w$]+/g) ?? [])
    .flat(),
);

interface Public {
  /** `DeviceCloudClient`, or `DeviceCloudClient.push`. */
  path: string;
  symbol: ts.Symbol;
}

describe('what the package exports, by its declarations', () => {
  let checker: ts.TypeChecker;
  let exported: Public[];
  let members: Public[];
  let ofClient: number;

  before(() => {
    const files = ENTRIES.map((entry) => join(repository, entry));
    // Declarations of Node.js are of no interest here, and take long to read.
    const options = { module: ts.ModuleKind.Node16, strict: true, types: [], noLib: true };
    const program = ts.createProgram(files, options);
    checker = program.getTypeChecker();
    const all = new Map<string, ts.Symbol>();
    for (const file of files) {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
      for (const symbol of checker.getExportsOfModule(module)) {
        const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
        all.set(symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol);
      }
    }
    ofClient = checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(files[0]!)!)!,
    ).length;
    const client = all.get('DeviceCloudClient') as ts.Symbol;
    const clientType = checker.getDeclaredTypeOfSymbol(client) as ts.InterfaceType;
    // To its users, what it has of the class that it extends is its own.
    const [base] = checker.getBaseTypes(clientType);
    const membersOf = (symbol: ts.Symbol): ts.Symbol[] => [
      ...(symbol.members?.values() ?? []),
      ...((symbol === client && base?.symbol.members?.values()) || []),
    ];
    exported = [...all].map(([path, symbol]) => ({ path, symbol }));
    members = exported.flatMap(({ path, symbol }) =>
      membersOf(symbol)
        .filter(
          ({ flags }) =>
            (flags &
              (ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)) !==
            0,
        )
        .filter(({ name }) => !/^__|#/.test(name))
        .map((member) => ({ path: `${path}.${member.name}`, symbol: member })),
    );
  });

  const docOf = ({ symbol }: Public): string =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker));

  it('is few names for the client', () => {
    assert.ok(ofClient > 20 && ofClient <= MOST, String(ofClient));
  });

  it('is named in docs/inside/client.md or docs/inside/simulator.md, each type, function, option and field', () => {
    assert.ok(exported.length > 50 && members.length > 120);
    const missing = [...exported, ...members]
      .map(({ path }) => path)
      .filter((path) => !named.has(path.split('.').at(-1)!));
    assert.deepEqual(missing, []);
  });

  it('has a comment for each in its declaration', () => {
    const missing = [...exported, ...members].filter((one) => docOf(one) === '');
    assert.deepEqual(
      missing.map(({ path }) => path),
      [],
    );
  });

  it('documents the parameters of each call and the section that describes it', () => {
    const calls = members.filter(
      ({ path, symbol }) =>
        path.startsWith('DeviceCloudClient.') && (symbol.flags & ts.SymbolFlags.Method) !== 0,
    );
    assert.ok(calls.length > 15);
    for (const call of calls) {
      const { path, symbol } = call;
      const tags = symbol.getJsDocTags(checker).filter(({ name }) => name === 'param');
      const documented = tags.map(
        ({ text }) => text?.find(({ kind }) => kind === 'parameterName')?.text,
      );
      const declaration = symbol.valueDeclaration as ts.MethodDeclaration;
      const parameters = declaration.parameters.map(({ name }) => name.getText());
      assert.deepEqual(documented, parameters, path);
      if (path !== 'DeviceCloudClient.close') assert.match(docOf(call), /section \d/, path);
    }
  });
});
