import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../repository';

const { name: NAME } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  name: string;
};

/**
 * Makes a user folder of Node-RED with no flows.
 * @param withPackage whether the package, as it is built here, is installed in it
 */
export function makeUserDir(userDir: string, { withPackage = true } = {}): string {
  const installed = join(userDir, 'node_modules', NAME);
  mkdirSync(dirname(installed), { recursive: true });
  if (withPackage) symlinkSync(repository, installed, 'junction');
  const dependencies = withPackage ? { [NAME]: '*' } : {};
  const manifest = { name: 'user', private: true, dependencies };
  writeFileSync(join(userDir, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(userDir, 'flows.json'), '[]');
  return userDir;
}
