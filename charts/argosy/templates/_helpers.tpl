{{/* The Deployments of the layout: one for each role, or one for all. */}}
{{- define "argosy.components" -}}
{{- if eq .Values.layout "one-account" -}}
["all"]
{{- else -}}
["workspace", "scheduler", "reconciler", "provisioner", "health", "api"]
{{- end -}}
{{- end -}}

{{/* Which of them serves REST. */}}
{{- define "argosy.apiComponent" -}}
{{- ternary "all" "api" (eq .Values.layout "one-account") -}}
{{- end -}}

{{/* What every object of the release has. */}}
{{- define "argosy.labels" -}}
{{ include "argosy.selector" . }}
app.kubernetes.io/part-of: argosy
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "argosy.selector" -}}
app.kubernetes.io/name: argosy
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Image, with its digest where one is given. */}}
{{- define "argosy.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}:{{ $tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/* Name and key of the Secret with the connection string. */}}
{{- define "argosy.databaseSecret" -}}
{{- ternary "argosy-postgresql" .Values.database.existingSecret .Values.postgresql.evaluation -}}
{{- end -}}
{{- define "argosy.databaseKey" -}}
{{- ternary "url" .Values.database.key .Values.postgresql.evaluation -}}
{{- end -}}

{{- define "argosy.encryptionSecret" -}}
{{- .Values.encryption.existingSecret | default "argosy-encryption" -}}
{{- end -}}

{{/* The keys of encryption keys that are in a Secret, as a list in JSON; those that a Vault keeps have none. */}}
{{- define "argosy.keysInSecret" -}}
{{- $keys := list -}}
{{- range .Values.encryption.keys -}}
{{- if .key -}}{{- $keys = append $keys .key -}}{{- end -}}
{{- end -}}
{{- toJson $keys -}}
{{- end -}}
{{/* "true" where a Vault keeps an encryption key, else nothing. */}}
{{- define "argosy.usesVault" -}}
{{- $uses := "" -}}
{{- range .Values.encryption.keys -}}
{{- if .vault -}}{{- $uses = "true" -}}{{- end -}}
{{- end -}}
{{- $uses -}}
{{- end -}}

{{- define "argosy.tlsSecret" -}}
{{- .Values.tls.existingSecret | default "argosy-api-tls" -}}
{{- end -}}

{{/* The `database` section of the configuration. */}}
{{- define "argosy.databaseConfig" -}}
migrate: {{ ternary "at-start" "by-command" .Values.postgresql.evaluation }}
requireVerifiedTls: {{ and .Values.database.requireVerifiedTls (not .Values.postgresql.evaluation) }}
{{- with .Values.database.logins }}
grantTo:
  controlPlane: {{ .controlPlane.role | default "argosy_control_plane" }}
  api: {{ .api.role | default "argosy_api" }}
{{- end }}
{{- end -}}

{{/* The configuration file: what the values say, and what the chart decides. */}}
{{- define "argosy.config" -}}
{{- $keys := list -}}
{{- $authority := ternary (dict "certificateAuthorityFile" "/etc/argosy/vault/ca.crt") dict (not (empty .Values.encryption.vaultAuthority)) -}}
{{- range .Values.encryption.keys -}}
{{- if .vault -}}
{{- $keys = append $keys (dict "id" .id "vault" (merge (dict) .vault $authority)) -}}
{{- else -}}
{{- $keys = append $keys (dict "id" .id "file" (printf "/etc/argosy/encryption/%s" .key)) -}}
{{- end -}}
{{- end -}}
{{- $encryption := dict "keys" $keys -}}
{{- with .Values.encryption.current -}}
{{- $_ := set $encryption "current" . -}}
{{- end -}}
{{- $shutdown := mergeOverwrite (dict "graceMs" 25000 "delayMs" 5000) (deepCopy (.Values.config.shutdown | default dict)) -}}
{{- $owned := dict
  "stateDir" "/var/lib/argosy/state"
  "database" (include "argosy.databaseConfig" . | fromYaml)
  "clusterFilter" (dict "image" (include "argosy.image" .))
  "listen" (dict "host" .Values.listenAddress "port" 8080 "tls" (dict "certificateFile" "/etc/argosy/api-tls/tls.crt" "keyFile" "/etc/argosy/api-tls/tls.key"))
  "monitoring" (dict "host" .Values.listenAddress "port" 8081)
  "encryption" $encryption
  "shutdown" $shutdown
-}}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $owned) -}}
{{- end -}}

{{/* Seconds until a pod is killed: longer than the process takes at most. */}}
{{- define "argosy.gracePeriod" -}}
{{- $config := include "argosy.config" . | fromYaml -}}
{{- add 5 (div (add (int64 $config.shutdown.graceMs) 999) 1000) -}}
{{- end -}}

{{- define "argosy.podSecurity" -}}
runAsNonRoot: true
{{- if not .Values.platformChoosesUser }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "argosy.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What a container needs to reach the database: of `root`, as the `login` controlPlane or api, or as the owner. */}}
{{- define "argosy.databaseEnv" -}}
{{- $login := dict -}}
{{- with .root.Values.database.logins -}}
{{- $login = index . $.login | default dict -}}
{{- end -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ $login.existingSecret | default (include "argosy.databaseSecret" .root) }}
      key: {{ ternary ($login.key | default "url") (include "argosy.databaseKey" .root) (not (empty $login)) }}
{{- end -}}
{{- define "argosy.databaseMounts" -}}
{{- if .Values.database.certificateAuthority }}
- name: database-authority
  mountPath: /etc/argosy/database
  readOnly: true
{{- end }}
{{- end -}}
{{- define "argosy.databaseVolumes" -}}
{{- with .Values.database.certificateAuthority }}
- name: database-authority
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .key }}
        path: ca.crt
{{- end }}
{{- end -}}

{{/* What a container needs to speak to the REST API with a token of its own. */}}
{{- define "argosy.clientEnv" -}}
{{ include "argosy.databaseEnv" (dict "root" . "login" "api") }}
- name: ARGOSY_URL
  value: https://argosy-api.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
{{- if or (not .Values.tls.existingSecret) .Values.tls.authority }}
- name: ARGOSY_CA
  value: /etc/argosy/api-authority/ca.crt
{{- end }}
{{- end -}}
{{- define "argosy.clientMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if or (not .Values.tls.existingSecret) .Values.tls.authority }}
- name: api-authority
  mountPath: /etc/argosy/api-authority
  readOnly: true
{{- end }}
{{- include "argosy.databaseMounts" . }}
{{- end -}}
{{- define "argosy.clientVolumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- if or (not .Values.tls.existingSecret) .Values.tls.authority }}
- name: api-authority
  secret:
    secretName: {{ include "argosy.tlsSecret" . }}
    defaultMode: 0440
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- include "argosy.databaseVolumes" . }}
{{- end -}}

{{/* Where pods may run, for every pod of the release. */}}
{{- define "argosy.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
Requests and limits where the values give none; docs/install.md says what they come from. A probe of a repository is a git of up to 384 MiB, of
which the role workspace runs four at once.
*/}}
{{- define "argosy.defaultResources" -}}
workspace: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 2Gi } }
scheduler: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 1Gi } }
reconciler: { requests: { cpu: 100m, memory: 192Mi }, limits: { memory: 2Gi } }
provisioner: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 1Gi } }
health: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 1Gi } }
api: { requests: { cpu: 50m, memory: 128Mi }, limits: { memory: 1Gi } }
all: { requests: { cpu: 200m, memory: 384Mi }, limits: { memory: 3Gi } }
{{- end -}}

{{/* An amount of memory as Kubernetes writes it, in bytes. */}}
{{- define "argosy.bytes" -}}
{{- $units := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- mulf (float64 $number) (get $units (trimPrefix $number $text) | default 1.0) | int64 -}}
{{- end -}}
