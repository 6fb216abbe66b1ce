"""Rechecks certificates: row instances, congruence, polynomial identities; the engine is not asked."""
