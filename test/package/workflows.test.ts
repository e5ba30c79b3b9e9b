import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { repository } from '../tooling/repository';

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

interface Job {
  needs?: string;
  environment?: string;
  permissions?: Record<string, string>;
  outputs?: Record<string, string>;
  steps: Step[];
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

interface Updates {
  updates: { 'package-ecosystem': string; directory?: string; directories?: string[] }[];
}

const { load } = createRequire(__filename)('js-yaml') as { load: (text: string) => unknown };

const folder = join(repository, '.github', 'workflows');
const files = readdirSync(folder);
const workflow = (file: string): Workflow =>
  load(readFileSync(join(folder, file), 'utf8')) as Workflow;
const jobsOf = (file: string): [string, Job][] => Object.entries(workflow(file).jobs);

/** What the jobs that publish may do, and no other. */
const PUBLISHING: Record<string, Record<string, string>> = {
  publish: { 'id-token': 'write' },
  pages: { 'id-token': 'write', pages: 'write' },
};

const INSTALLS = /\bnpm (ci|i|install|install-test|test|start|run|exec|pack)\b|\bnpx\b|\bnode\s/;

describe('the workflows', () => {
  it('use only the actions of the platform itself, each in a fixed version', () => {
    const used = files.flatMap((file) =>
      jobsOf(file).flatMap(([, { steps }]) => steps.flatMap(({ uses = [] }) => uses)),
    );
    assert.ok(used.length > 5);
    for (const each of used) assert.match(each, /^actions\/[a-z-]+@(v\d+|[0-9a-f]{40})$/);
  });

  it('declare their permissions, which are read-only outside a publishing job', () => {
    for (const file of files) {
      const { permissions, jobs } = workflow(file);
      for (const [name, job] of Object.entries(jobs)) {
        const granted = job.permissions ?? permissions;
        const wanted = PUBLISHING[name] ?? { contents: 'read' };
        assert.deepEqual(granted, wanted, `${file}: ${name}`);
      }
    }
  });

  it('leave no credentials of the checkout behind for what they install', () => {
    for (const file of files) {
      for (const [name, { steps }] of jobsOf(file)) {
        for (const { uses = '', with: options } of steps) {
          if (!uses.startsWith('actions/checkout')) continue;
          assert.equal(options?.['persist-credentials'], false, `${file}: ${name}`);
        }
      }
    }
  });

  it('put no data of the event into a script, where it would be executed', () => {
    for (const file of files) {
      for (const [name, { steps }] of jobsOf(file)) {
        for (const { run = '' } of steps) assert.doesNotMatch(run, /\$\{\{/, `${file}: ${name}`);
      }
    }
  });
});

describe('the release workflow', () => {
  const { jobs } = workflow('release.yml');
  const { build = { steps: [] }, publish = { steps: [] } } = jobs;
  const scripts = (job: Job): string[] => job.steps.flatMap(({ run = [] }) => run);
  const uses = (job: Job, action: string): Step | undefined =>
    job.steps.find(({ uses: used }) => used?.startsWith(`actions/${action}@`));

  it('gives the token of npm and the identity to a job that installs and runs nothing', () => {
    assert.deepEqual(Object.keys(jobs), ['build', 'publish', 'docs', 'pages']);
    assert.equal(publish.environment, 'npm');
    assert.equal(uses(publish, 'checkout'), undefined);
    for (const script of scripts(publish)) assert.doesNotMatch(script, INSTALLS);
    assert.equal(uses(publish, 'setup-node')?.with?.['package-manager-cache'], false);
    assert.ok(scripts(build).some((script) => INSTALLS.test(script)));
    assert.doesNotMatch(JSON.stringify(build), /secrets\.|id-token|"environment"/);
    const withToken = publish.steps.filter((step) => JSON.stringify(step).includes('secrets.'));
    assert.deepEqual(
      withToken.map(({ name }) => name),
      ['Publish'],
    );
  });

  it('publishes the tarball that was packed after the tests, by its checksum', () => {
    assert.equal(publish.needs, 'build');
    const order = ['npm test', 'npm pack'];
    const at = order.map((part) => build.steps.findIndex(({ run }) => run?.includes(part)));
    const uploaded = build.steps.indexOf(uses(build, 'upload-artifact')!);
    assert.deepEqual(
      [...at, uploaded],
      [...at, uploaded].sort((a, b) => a - b),
    );
    assert.ok(!at.includes(-1));
    assert.equal(uses(build, 'upload-artifact')?.with?.['path'], 'package.tgz');
    assert.equal(
      uses(publish, 'download-artifact')?.with?.['name'],
      uses(build, 'upload-artifact')?.with?.['name'],
    );
    const publishing = scripts(publish).filter((script) => script.includes('npm publish'));
    assert.equal(publishing.length, 1);
    assert.match(publishing[0]!, /npm publish \.\/package\.tgz .*--provenance --ignore-scripts/);
    const checks = publish.steps.findIndex(({ run }) => run?.includes('sha512sum --check'));
    const last = publish.steps.findIndex(({ run }) => run?.includes('npm publish'));
    assert.ok(checks !== -1 && checks < last);
    assert.equal(publish.steps[checks]?.env?.['SHA512'], '${{ needs.build.outputs.sha512 }}');
    assert.deepEqual(build.outputs, { sha512: '${{ steps.pack.outputs.sha512 }}' });
  });
});

describe('the updates', () => {
  const { updates } = load(
    readFileSync(join(repository, '.github', 'dependabot.yml'), 'utf8'),
  ) as Updates;

  it('cover the actions and every folder that names packages', () => {
    const kinds = updates.map((each) => each['package-ecosystem']);
    assert.deepEqual(kinds, ['github-actions', 'npm']);
    const folders = [
      '/',
      '/docs',
      ...readdirSync(join(repository, 'test')).map((name) => `/test/${name}`),
    ].filter((each) => existsSync(join(repository, each, 'package.json')));
    assert.ok(folders.length > 1);
    assert.deepEqual(updates[1]?.directories, folders);
  });
});
