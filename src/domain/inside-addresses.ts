/**
 * IPv4 that leads inside, or nowhere (IANA's special-purpose registry, RFC 6890): private, shared, loopback, link-local (cloud
 * metadata among them), of protocols, documentation, benchmarking, multicast and reserved ones. CIDR.
 */
export const INSIDE_V4: readonly string[] = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24"],
  ...["192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
];

/**
 * Of IPv6 only global unicast leads outside, and of that not what is for protocols (Teredo, ORCHID, benchmarking) and documentation.
 * Outside of it are the translators of one's own too (::ffff:0:0:0/96, 64:ff9b:1::/48).
 */
export const GLOBAL_V6 = "2000::/3";
export const INSIDE_GLOBAL_V6: readonly string[] = ["2001::/23", "2001:db8::/32", "3fff::/20"];

/** Global IPv6 that carries an IPv4 address: whoever unpacks it reaches that address. */
export const CARRIES_V4: readonly string[] = ["2002::/16"];
