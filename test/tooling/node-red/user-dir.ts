import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../repository';

const { name: NAME } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  name: string;
};

/**
 * Makes a user folder of Node-RED with no flows.
 * @param packageFolder the built package to install in it; default: this repository; null for none
 */
export function makeUserDir(userDir: string, packageFolder: string | null = repository): string {
  const installed = join(userDir, 'node_modules', NAME);
  mkdirSync(dirname(installed), { recursive: true });
  if (packageFolder !== null) symlinkSync(packageFolder, installed, 'junction');
  const dependencies = packageFolder === null ? {} : { [NAME]: '*' };
  const manifest = { name: 'user', private: true, dependencies };
  writeFileSync(join(userDir, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(userDir, 'flows.json'), '[]');
  return userDir;
}
