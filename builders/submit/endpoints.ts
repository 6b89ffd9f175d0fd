import { createHash } from 'node:crypto';
import type { BuilderConfig, ChainConfig, PammConfig } from '../../config/chains-schema.ts';

/** One builder endpoint of one chain, as configured and switched on. */
export type Endpoint = {
  /** Name of its queue and root of its Redis keys. */
  readonly id: string;
  readonly chainId: number;
  readonly kind: PammConfig['kind'];
  readonly transport: BuilderConfig['transport'];
  readonly url: string;
  /** `<builder_id>:<endpoint_url>`, as clients see it. */
  readonly provider: string;
  /** Sent as the whole `Authorization` header; never logged. */
  readonly apiKey?: string;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** The usable endpoints of a chain, in the order of the configuration. A builder whose key variable is unset is off. */
export function chainEndpoints(chain: ChainConfig, env: Environment): Endpoint[] {
  const pamm = chain.pamm;
  if (!pamm) return [];
  return pamm.builders
    .filter(({ apiKeyEnv }) => apiKeyEnv === undefined || Boolean(env[apiKeyEnv]))
    .map((builder) => toEndpoint(chain.chainId, pamm.kind, builder, env));
}

function toEndpoint(chainId: number, kind: Endpoint['kind'], builder: BuilderConfig, env: Environment): Endpoint {
  const apiKey = builder.apiKeyEnv === undefined ? undefined : env[builder.apiKeyEnv];
  // One builder may have endpoints in several regions: the URL tells them apart.
  const urlHash = createHash('sha256').update(builder.url).digest('hex').slice(0, 8);
  return {
    id: `${chainId}-${builder.id}-${urlHash}`,
    chainId,
    kind,
    transport: builder.transport,
    url: builder.url,
    provider: `${builder.id}:${builder.url}`,
    ...(apiKey ? { apiKey } : {}),
  };
}
