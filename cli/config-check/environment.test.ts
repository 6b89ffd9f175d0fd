import { expect, test } from 'vitest';
import { parseChainsFile } from '../../config/load-chains.ts';
import type { BuilderConfig } from '../../config/pamm-schema.ts';
import { checkEnvironment } from './environment.ts';

const [CHAIN] = parseChainsFile(
  {
    chains: [
      {
        chainId: 7,
        name: 'seven',
        rpcUrls: ['env:RPC_A', 'https://fixed.example', 'env:RPC_B'],
        wsUrls: ['env:WS'],
        blockTimeMs: 1_000,
        deployments: [],
        pamm: {
          kind: 'bsc',
          builders: [
            { id: 'keyed', transport: 'bundle', url: 'https://keyed.example', apiKeyEnv: 'BUILDER_KEY' },
            { id: 'open', transport: 'bundle', url: 'https://open.example' },
          ],
        },
        live: {
          sources: [
            { kind: 'own' },
            { kind: 'relayer', wsUrls: ['env:LIVE_WS'], rpcUrls: ['env:LIVE_RPC'], apiKeyEnv: 'RELAYER_KEY' },
          ],
        },
      },
    ],
  },
  'test',
  null,
).chains;

const COMPLETE = {
  RPC_A: 'https://a.example/key',
  RPC_B: 'https://b.example',
  WS: 'wss://a.example',
  BUILDER_KEY: 'secret',
  LIVE_WS: 'wss://live.example',
  LIVE_RPC: 'https://live.example',
  RELAYER_KEY: 'secret',
};

function check(changes: Record<string, string | undefined>) {
  if (!CHAIN) throw new Error('no chain');
  const { findings, known } = checkEnvironment(CHAIN, { ...COMPLETE, ...changes });
  return { found: findings.map(({ level, problem }) => `${level}: ${problem}`), rpcUrls: known.rpcUrls };
}

test('an environment with every variable has no findings and gives each URL', () => {
  const rpcUrls = ['https://a.example/key', 'https://fixed.example', 'https://b.example'];
  expect(check({})).toEqual({ found: [], rpcUrls });
});

test.each(['RPC_A', 'RPC_B', 'WS', 'LIVE_WS', 'LIVE_RPC'])('a URL from %s that is not set is an error', (name) => {
  const found = [`error: ${name} is not set: a URL of chain 7 comes from it`];
  for (const value of [undefined, '']) expect(check({ [name]: value }).found).toEqual(found);
});

test('a URL of another kind is an error that does not show it; the other nodes stay', () => {
  const { found, rpcUrls } = check({ RPC_A: 'wss://a.example/secret' });
  expect(found).toEqual(['error: RPC_A: not an http(s) URL without a user and password, for chain 7']);
  expect(rpcUrls).toEqual(['https://fixed.example', 'https://b.example']);
});

test.each([
  ['BUILDER_KEY', 'the builder keyed'],
  ['RELAYER_KEY', 'the live source relayer'],
])('a key in %s that is not set is a warning: %s is off', (name, owner) => {
  expect(check({ [name]: '' }).found).toEqual([`warning: ${name} is not set: ${owner} is off`]);
});

test('a relayer without a key is a warning', () => {
  if (!CHAIN) throw new Error('no chain');
  const relayer = { id: 'relayer', transport: 'relayer', url: 'wss://relayer.example' } as const;
  const problemsOf = (builder: BuilderConfig) =>
    checkEnvironment({ ...CHAIN, pamm: { kind: 'bsc', builders: [builder] } }, COMPLETE).findings.map(
      ({ level, problem }) => `${level}: ${problem}`,
    );
  expect(problemsOf(relayer)).toEqual([
    "warning: the relayer relayer has no apiKeyEnv: a relayer takes updates with a maker's key only",
  ]);
  expect(problemsOf({ ...relayer, apiKeyEnv: 'BUILDER_KEY' })).toEqual([]);
});

test('a key that is set twice, or whose file cannot be read, ends a process: it is an error', () => {
  expect(check({ BUILDER_KEY_FILE: '/nowhere' }).found).toEqual([
    'error: BUILDER_KEY and BUILDER_KEY_FILE are both set: keep one',
  ]);
  expect(check({ RELAYER_KEY: '', RELAYER_KEY_FILE: '/nowhere' }).found).toEqual([
    'error: RELAYER_KEY_FILE: cannot read /nowhere (ENOENT)',
  ]);
});
