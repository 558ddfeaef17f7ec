"""Which risk speaks to which word of a law, guideline or standard, and what no audit proves: words mapped, nothing claimed."""

from __future__ import annotations

from kakurenbo.audit.result import RegulationRow

REGULATION = (
    RegulationRow("wp29", "singling_out", ("singling_out", "membership")),
    RegulationRow("wp29", "linkability", ("linkability", "pseudonyms")),
    RegulationRow("wp29", "inference", ("inference",)),
    RegulationRow("appi", "restoration", ("linkability", "recoding", "pseudonyms")),
    RegulationRow("appi", "peculiar_descriptions", ("singling_out",)),
    RegulationRow("hipaa", "expert_determination", ("singling_out", "linkability", "membership")),
    RegulationRow("iso20889", "reidentification", ("singling_out", "linkability", "inference")),
    RegulationRow(
        "iso27559", "attacks", ("membership", "singling_out", "linkability", "inference")
    ),
    RegulationRow("ema0070", "criteria", ("singling_out", "linkability", "inference")),
)
NOT_PROVED = ("stronger_attacks", "other_knowledge", "later_releases", "sample", "law")
