import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repository } from '../../test/support/repository';
import type { Row, Table } from '../report/results';

/** What `npm pack` would put into the package. */
function packed(): { unpackedSize: number; size: number } {
  const script = process.env['npm_execpath'] ?? '';
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const options = { cwd: repository, encoding: 'utf8', stdio: 'pipe' } as const;
  const json = basename(script).startsWith('npm')
    ? execFileSync(process.execPath, [script, ...pack], options)
    : execFileSync('npm', pack, { ...options, shell: process.platform === 'win32' });
  const [found] = JSON.parse(json) as [{ unpackedSize: number; size: number }];
  return found;
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, { parentPath, name }) => total + statSync(join(parentPath, name)).size, 0);

/** The packages that come along when this one is installed. */
function dependencies(): string[] {
  const lock = readFileSync(join(repository, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: boolean }> };
  return Object.keys(packages).filter((path) => path !== '' && !packages[path]?.dev);
}

const row = (label: string, bytes: number): Row => ({
  contender: label,
  label,
  role: 'ours',
  values: { size: [bytes / 1000] },
});

/** What installing the package takes on a disk. */
export function measureSize(): Table {
  const { unpackedSize, size } = packed();
  const others = dependencies().map((path) =>
    row(path.replace('node_modules/', ''), sizeOf(join(repository, path))),
  );
  const kilobytes = (rows: Row[]): number =>
    rows.reduce((total, { values }) => total + (values['size']?.[0] ?? 0), 0);
  const all = [row('the package', unpackedSize), ...others];
  return {
    id: 'size',
    title: 'Installed size',
    columns: [{ key: 'size', label: 'on disk', unit: 'KB', digits: 0 }],
    rows: [...all, row('together', kilobytes(all) * 1000)],
    notes: [`The package travels as ${Math.round(size / 1000)} KB.`],
  };
}
