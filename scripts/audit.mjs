import { npm } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `npm run audit`: whether a vulnerability is known in what is installed along with this package, by the
 * lock file. It fails when there is one, and when the registry does not say.
 */

function report() {
  // At that level npm fails for one reason only: it has no answer.
  const question = ['audit', '--omit=dev', '--package-lock-only', '--audit-level=none', '--json'];
  return JSON.parse(npm(question)).vulnerabilities;
}

const said = ({ name, severity, via }) =>
  `${name}: ${severity}, ${via.map((each) => (each.title ? `${each.title} (${each.url})` : `through ${each}`)).join('; ')}`;

try {
  const found = Object.values(report());
  for (const each of found) console.log(said(each));
  if (found.length > 0) process.exitCode = 1;
  console.log(`${found.length || 'No'} vulnerable run-time dependencies are known.`);
} catch (error) {
  fail(error);
  console.log('No answer from the registry: nothing is known of the run-time dependencies.');
}
