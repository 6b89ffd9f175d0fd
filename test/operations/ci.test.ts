import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadChainsFile } from '../../config/load-chains.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

type Step = {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly if?: string;
};
type Job = {
  readonly 'runs-on': string;
  readonly container?: { readonly image: string };
  readonly 'timeout-minutes': number;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
};

const pathOf = (path: string) => join(PROJECT_ROOT, path);
const textOf = (path: string) => readFileSync(pathOf(path), 'utf8');
const source = textOf('.github/workflows/ci.yml');
const { jobs } = parse(source) as { readonly jobs: { readonly test: Job; readonly containers: Job } };
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run = [] }) => run);
const { devDependencies } = JSON.parse(textOf('package.json')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

test('each job has a limit of time, and actions of a major version', () => {
  expect(Object.keys(jobs)).toEqual(['test', 'containers']);
  for (const { steps, 'runs-on': machine, 'timeout-minutes': minutes } of Object.values(jobs)) {
    expect([machine, minutes > 0]).toEqual(['ubuntu-latest', true]);
    for (const { uses, run } of steps) {
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@v\d+$/);
      // A colon makes a mapping of a command that is not quoted.
      else expect(run).toBeTypeOf('string');
    }
  }
});

test('the first job installs what .ci/run uses on Debian, with the Node of package.json, and runs it', () => {
  const { container, steps } = jobs.test;
  expect(container?.image).toMatch(/^debian:/);
  const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'));
  expect(String(node?.with?.['node-version'])).toBe(devDependencies.node?.split('.')[0]);
  const [install = '', ...commands] = commandsOf(jobs.test);
  for (const name of ['chromium-headless-shell', 'git', 'redis-server']) expect(install.split(' ')).toContain(name);
  expect(commands.at(-1)).toBe('.ci/run');
  accessSync(pathOf('.ci/run'), constants.X_OK);
});

test('the second job builds the image, starts compose, waits for /ready, and takes all down whatever happens', () => {
  const { env = {}, steps } = jobs.containers;
  const text = commandsOf(jobs.containers).join('\n');
  const [, dockerfile = '', image] = /^docker build --file (\S+) --tag (\S+) \.$/m.exec(text) ?? [];
  expect(existsSync(pathOf(dockerfile))).toBe(true);
  const files = env.COMPOSE_FILE?.split(':') ?? [];
  const [compose, ours] = files.map((path) => parse(textOf(path), { merge: true }));
  expect(compose.services.api).toMatchObject({ image, build: '.' });
  const { OPERATIONS_PORT: port } = compose.services.api.environment;
  const order = ['docker build', 'docker compose up --detach', `http://127.0.0.1:${port}/ready`, 'docker compose down'];
  const places = order.map((part) => text.indexOf(part));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(steps.at(-1)).toEqual({ if: 'always()', run: 'docker compose down --volumes' });
  expect(ours.services.chain.image).toBe(`ghcr.io/foundry-rs/foundry:v${devDependencies['@foundry-rs/anvil']}`);
});

test('its compose has each variable that it needs, and a chain of its own', () => {
  const { env = {} } = jobs.containers;
  const required = [...textOf('docker-compose.yml').matchAll(/\$\{([A-Z0-9_]+):\?/g)].map(([, name = '']) => name);
  expect(required.length).toBeGreaterThan(5);
  for (const name of required) expect(env[name], name).toBeDefined();
  const { chains } = loadChainsFile(pathOf(env.CHAINS_CONFIG_FILE ?? ''));
  expect(chains.map(({ rpcUrls }) => rpcUrls)).toEqual([['http://chain:8545']]);
});
