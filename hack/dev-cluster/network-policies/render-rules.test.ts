import { describe, expect, it } from "vitest";
import type { AddressRange } from "./addresses.ts";
import { parseCidr } from "./addresses.ts";
import { planRules } from "./plan-rules.ts";
import { renderRules } from "./render-rules.ts";
import { aNamespace, aPod, aPolicy, stateOf } from "./testing/objects.ts";

const settings = { podRanges: [parseCidr("10.1.0.0/24") as AddressRange], trustedSources: [parseCidr("192.0.2.1/32") as AddressRange] };

/** A shop with a web server and a database, and a scraper in another namespace. */
const shop = {
  policies: [
    aPolicy("shop/default-deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }),
    aPolicy("shop/web", {
      podSelector: { matchLabels: { app: "web" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        {
          from: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.0/8"] } }, { podSelector: {} }],
          ports: [{ port: "http" }, { port: 8443 }],
        },
        { from: [{ namespaceSelector: { matchLabels: { team: "ops" } } }], ports: [{ port: 9000, endPort: 9010 }, { port: 9090 }] },
      ],
      egress: [
        { to: [{ podSelector: { matchLabels: { app: "db" } } }], ports: [{ port: "sql" }] },
        { ports: [{ protocol: "UDP", port: 53 }, { protocol: "SCTP" }] },
        { to: [{ ipBlock: { cidr: "0.0.0.0/0" } }, { ipBlock: { cidr: "fd00::/8" } }], ports: [{ port: 443 }] },
      ],
    }),
    aPolicy("shop/db", {
      podSelector: { matchLabels: { app: "db" } },
      ingress: [{ from: [{ podSelector: { matchLabels: { app: "web" } } }] }],
    }),
  ],
  pods: [
    aPod("shop/web-0", "10.1.0.2", {
      labels: { app: "web" },
      ports: [{ name: "http", containerPort: 8080 }],
      status: { podIPs: [{ ip: "fd00::2" }] },
    }),
    aPod("shop/web-1", "10.1.0.3", { labels: { app: "web" }, ports: [{ name: "http", containerPort: 8081 }] }),
    aPod("shop/db-0", "10.1.0.4", { labels: { app: "db" }, ports: [{ name: "sql", containerPort: 5432 }] }),
    aPod("ops/scraper", "10.1.0.5"),
    aPod("ops/twin", "10.1.0.6"),
    aPod("ops/other-twin", "10.1.0.6"),
  ],
  namespaces: [aNamespace("shop"), aNamespace("ops", { team: "ops" })],
};

describe("the script for nft", () => {
  it("says what a shop's policies allow", async () => {
    await expect(renderRules(planRules(stateOf(shop), settings).rules)).toMatchFileSnapshot("testing/shop.golden.nft");
  });

  it("has the same rules on a packet's way however many pods there are", () => {
    const crowd = Array.from({ length: 200 }, (_, at) => aPod(`shop/web-${at + 2}`, `10.2.0.${at}`, { labels: { app: "web" } }));
    const rulesOf = (pods: typeof shop.pods) => {
      const chains = renderRules(planRules(stateOf({ ...shop, pods }), settings).rules);
      return chains.slice(chains.indexOf("chain "));
    };
    expect(rulesOf([...shop.pods, ...crowd])).toBe(rulesOf(shop.pods));
  });

  it("takes no text of an object for a part of itself", () => {
    const odd = aPolicy('shop/x" accept\n}', { podSelector: {}, ingress: [] });
    const text = renderRules(planRules(stateOf({ ...shop, policies: [odd] }), settings).rules);
    expect(text).toContain('comment "shop/x??accept??"');
  });
});
