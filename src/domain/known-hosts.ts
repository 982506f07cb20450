/** Host keys that the large public Git hosts publish; other hosts' keys are the administrator's to declare (`egress.sshKnownHosts`). */
const HOST_KEYS: readonly { readonly hosts: readonly string[]; readonly type: string; readonly key: string }[] = [
  {
    hosts: ["github.com", "[ssh.github.com]:443"],
    type: "ssh-ed25519",
    key: "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
  },
  {
    hosts: ["github.com", "[ssh.github.com]:443"],
    type: "ecdsa-sha2-nistp256",
    key: "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=",
  },
  {
    hosts: ["gitlab.com"],
    type: "ssh-ed25519",
    key: "AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf",
  },
  {
    hosts: ["gitlab.com"],
    type: "ecdsa-sha2-nistp256",
    key: "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=",
  },
  {
    hosts: ["bitbucket.org"],
    type: "ssh-ed25519",
    key: "AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO",
  },
  {
    hosts: ["bitbucket.org"],
    type: "ecdsa-sha2-nistp256",
    key: "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=",
  },
  {
    hosts: ["ssh.dev.azure.com", "vs-ssh.visualstudio.com"],
    type: "ssh-rsa",
    key: "AAAAB3NzaC1yc2EAAAADAQABAAABAQC7Hr1oTWqNqOlzGJOfGJ4NakVyIzf1rXYd4d7wo6jBlkLvCA4odBlL0mDUyZ0/QUfTTqeu+tm22gOsv+VrVTMk6vwRU75gY/y9ut5Mb3bR5BV58dKXyq9A9UeB5Cakehn5Zgm6x1mKoVyf+FFn26iYqXJRgzIZZcZ5V6hrE0Qg39kZm4az48o0AUbf6Sp4SLdvnuMa2sVNwHBboS7EJkm57XQPVU3/QpyNLHbWDdzwtrlS+ez30S3AdYhLKEOxAG8weOnyrtLJAUen9mTkol8oII1edf7mWWbWVf0nBmly21+nZcmCTISQBtdcyPaEno7fFQMDD26/s0lfKob4Kw8H",
  },
];

/** Content of `ssh_known_hosts`, one line per host and kind of key; `declared`: more such lines. */
export function knownHosts(declared = ""): string {
  const own = HOST_KEYS.flatMap(({ hosts, type, key }) => hosts.map((host) => `${host} ${type} ${key}\n`)).join("");
  return declared.trim() === "" ? own : `${own}${declared.trim()}\n`;
}
