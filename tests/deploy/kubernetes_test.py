"""deploy/kubernetes: the manifest fits the server and its container."""

import json
import sys

from claims import DEPLOY, ROOT, check_arguments, run_claims, skip
from container_test import only

try:
    import yaml
except ImportError:
    skip("yaml is missing (Debian: python3-yaml)")

DOCUMENTS = {one["kind"]: one for one in
             yaml.safe_load_all((DEPLOY / "kubernetes" / "plackett.yaml").read_text())}
SET = DOCUMENTS["StatefulSet"]["spec"]
POD = SET["template"]["spec"]
(SERVER,) = POD["containers"]
PATHS = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]


def test_probes_ask_for_what_needs_no_token():
    expected = {"startupProbe": "/health", "livenessProbe": "/health", "readinessProbe": "/ready"}
    for probe, path in expected.items():
        asked = SERVER[probe]["httpGet"]
        assert asked["path"] == path
        assert PATHS[path]["get"]["x-role"] == "none"
        assert asked["port"] in [port["name"] for port in SERVER["ports"]]
    metrics = SET["template"]["metadata"]["annotations"]["prometheus.io/path"]
    assert PATHS[metrics]["get"]["x-role"] == "read"


def test_ports_are_the_containers():
    exposed = int(only("EXPOSE"))
    assert [port["containerPort"] for port in SERVER["ports"]] == [exposed]
    (port,) = DOCUMENTS["Service"]["spec"]["ports"]
    assert port["targetPort"] == SERVER["ports"][0]["name"]
    assert SET["template"]["metadata"]["annotations"]["prometheus.io/port"] == str(exposed)


def test_arguments_are_the_servers_and_name_what_is_mounted():
    check_arguments("serve", SERVER["args"])
    mounts = {mount["name"]: mount["mountPath"] for mount in SERVER["volumeMounts"]}
    tokens = SERVER["args"][SERVER["args"].index("--tokens") + 1]
    assert tokens == mounts["tokens"] + "/tokens"
    assert mounts["store"] == only("VOLUME").strip()
    (claim,) = SET["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "store"
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]


def test_there_is_one_server():
    assert SET["replicas"] == 1
    assert DOCUMENTS["Service"]["spec"]["selector"] == SET["selector"]["matchLabels"]
    assert SET["selector"]["matchLabels"] == SET["template"]["metadata"]["labels"]


def test_it_may_do_nothing_but_serve():
    user = int(only("USER").split(":")[0])
    assert POD["securityContext"]["runAsNonRoot"] and POD["securityContext"]["runAsUser"] == user
    assert POD["securityContext"]["fsGroup"] == user
    inside = SERVER["securityContext"]
    assert inside["readOnlyRootFilesystem"] and not inside["allowPrivilegeEscalation"]
    assert inside["capabilities"] == {"drop": ["ALL"]}
    assert POD["automountServiceAccountToken"] is False


def test_stopping_has_the_time_it_needs():
    pause = int(SERVER["lifecycle"]["preStop"]["exec"]["command"][1])
    # The server gives requests 10 s, then learns and takes snapshots.
    assert POD["terminationGracePeriodSeconds"] >= pause + 10 + 30


def test_memory_holds_all_bodies():
    """--max-bodies, 256M by default, and the rest."""
    assert SERVER["resources"]["limits"]["memory"] == "1Gi"


if __name__ == "__main__":
    sys.exit(run_claims(sys.modules[__name__]))
