{{/* Rules of NetworkPolicies, one for each flow; docs/install.md has the table. */}}
{{- define "argosy.egressToNameServers" -}}
- to:
    {{- toYaml .Values.networkPolicies.nameServers | nindent 4 }}
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
    - { protocol: UDP, port: 5353 }
    - { protocol: TCP, port: 5353 }
{{- end -}}

{{- define "argosy.egressToKubernetes" -}}
- to:
    {{- range .Values.networkPolicies.kubernetes.cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    {{- range .Values.networkPolicies.kubernetes.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}

{{- define "argosy.egressToDatabase" -}}
{{- if .Values.postgresql.evaluation -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "argosy.selector" . | nindent 10 }}
          app.kubernetes.io/component: postgresql
  ports:
    - { protocol: TCP, port: 5432 }
{{- else -}}
- to:
    {{- range .Values.networkPolicies.database.cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    - { protocol: TCP, port: {{ .Values.networkPolicies.database.port }} }
{{- end -}}
{{- end -}}

{{- define "argosy.egressToVault" -}}
{{- if include "argosy.usesVault" . -}}
- to:
    {{- range .Values.networkPolicies.vault.cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    - { protocol: TCP, port: {{ .Values.networkPolicies.vault.port }} }
{{- end -}}
{{- end -}}

{{/* Metrics of application controllers and repo-servers. */}}
{{- define "argosy.egressToInstances" -}}
- to:
    - namespaceSelector:
        matchExpressions:
          - { key: argosy.dev/instance, operator: Exists }
  ports:
    - { protocol: TCP, port: 8082 }
    - { protocol: TCP, port: 8084 }
{{- end -}}

{{/* What users name. */}}
{{- define "argosy.egressOutside" -}}
{{- $outside := .Values.networkPolicies.outside -}}
{{- if $outside.cidrs -}}
- to:
    {{- range $cidr := $outside.cidrs }}
    - ipBlock:
        cidr: {{ $cidr | quote }}
        {{- $except := list }}
        {{- range $outside.except }}
        {{- /* Kubernetes refuses an exception that is not inside of its range. */}}
        {{- if and (has $cidr (list "0.0.0.0/0" "::/0")) (eq (contains ":" .) (contains ":" $cidr)) }}
        {{- $except = append $except . }}
        {{- end }}
        {{- end }}
        {{- with $except }}
        except:
          {{- toYaml . | nindent 10 }}
        {{- end }}
    {{- end }}
  ports:
    {{- range $outside.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}
{{- end -}}

{{- define "argosy.egressToApi" -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "argosy.selector" . | nindent 10 }}
          app.kubernetes.io/component: {{ include "argosy.apiComponent" . }}
  ports:
    - { protocol: TCP, port: 8080 }
{{- end -}}
