import { createHash } from 'node:crypto';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { BuilderConfig } from '../../config/pamm-schema.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import { withoutSecrets } from '../../config/url-secrets.ts';

/** One builder endpoint of one chain, as configured and switched on. */
export type Endpoint = {
  /** Name of its queue, root of its Redis keys, label of its metrics. */
  readonly id: string;
  readonly transport: BuilderConfig['transport'];
  readonly url: string;
  /** `<builder_id>:<endpoint_url>`, as clients see it: without user, password and query of the URL. */
  readonly provider: string;
  /** Sent as the whole header of the key; never logged. */
  readonly apiKey?: string;
};

/**
 * Lists the usable endpoints of a chain, in configured order. A builder whose key variable is unset is off.
 * An entry that repeats id and URL of one before it is no further endpoint: updates would wait for an answer of it.
 */
export function chainEndpoints({ chainId, pamm }: ChainConfig, env: Environment): Endpoint[] {
  const keyOf = ({ apiKeyEnv }: BuilderConfig) => apiKeyEnv && readSecret(apiKeyEnv, env);
  const usable = pamm?.builders.filter((builder) => builder.apiKeyEnv === undefined || keyOf(builder)) ?? [];
  const builders = usable.filter(({ id, url }, index) => {
    return index === usable.findIndex((other) => other.id === id && other.url === url);
  });
  return builders.map((builder) => {
    const { id, transport, url } = builder;
    const apiKey = keyOf(builder);
    // One builder may have endpoints in several regions: the URL distinguishes them.
    const urlHash = createHash('sha256').update(url).digest('hex').slice(0, 8);
    const shown = withoutSecrets(url);
    const isAlike = (other: BuilderConfig) =>
      other.id === id && other.url !== url && withoutSecrets(other.url) === shown;
    return {
      id: `${chainId}-${id}-${urlHash}`,
      transport,
      url,
      // The hash distinguishes endpoints in the audit trail that differ only in hidden parts of the URL.
      provider: builders.some(isAlike) ? `${id}:${shown}#${urlHash}` : `${id}:${shown}`,
      ...(apiKey && { apiKey }),
    };
  });
}
