"""A Greeting gets a ConfigMap with its text. With GREETING_BUG the ConfigMap has a generated name, so that a creation whose response is
lost, or a process that ends before kopf has noted it, makes another one."""

import os

import kopf
import kubernetes

BUG = os.environ.get("GREETING_BUG") == "1"
RETRY = {"backoff": 1, "retries": 20}


def api():
    return kubernetes.client.CoreV1Api()


@kopf.on.startup()
def connect(settings: kopf.OperatorSettings, **_):
    kubernetes.config.load_kube_config(os.environ["KUBECONFIG"])
    settings.posting.enabled = False
    settings.networking.error_backoffs = [0.2, 0.5, 1, 2, 4]
    settings.networking.request_timeout = 5
    settings.watching.server_timeout = 30


def config_for(name, text):
    meta = {"labels": {"greeting": name}}
    meta.update({"generateName": name + "-text-"} if BUG else {"name": name + "-text"})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"text": text}}
    kopf.adopt(body)
    return body


@kopf.on.create("torture.example.com", "v1", "greetings", **RETRY)
def create(spec, name, namespace, **_):
    try:
        api().create_namespaced_config_map(namespace, config_for(name, spec["text"]), _request_timeout=5)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        api().patch_namespaced_config_map(name + "-text", namespace, {"data": {"text": spec["text"]}}, _request_timeout=5)


@kopf.on.update("torture.example.com", "v1", "greetings", field="spec.text", **RETRY)
def change(spec, name, namespace, **_):
    found = api().list_namespaced_config_map(namespace, label_selector="greeting=" + name, _request_timeout=5).items
    for each in found:
        api().patch_namespaced_config_map(each.metadata.name, namespace, {"data": {"text": spec["text"]}}, _request_timeout=5)
